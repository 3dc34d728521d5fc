"""A submission for which this machine had too little time: it is graded once more, and then its grade is withheld, never lowered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from grader.grading.grade import Graded

TOO_BUSY = (
    "this machine was too busy: something was stopped that had not had its time. The grade is withheld, nothing is lost. "
    "Run this again when less else runs here"
)


def again_if_starved(grade: Callable[[], Graded]) -> Graded:
    """Grade a submission, and once more if it was starved; withhold the grade if it was starved again."""
    graded = grade()
    return unless_starved(grade() if graded.starved else graded)


def unless_starved(graded: Graded) -> Graded:
    """Return what was graded; if it was starved, without a score."""
    if not graded.starved:
        return graded
    return replace(graded, grade=replace(graded.grade, status="fault", score=None, message=TOO_BUSY))
