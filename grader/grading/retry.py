"""Decide which trainings to repeat from another seed: those where only the trained object did not pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.declaration.exercise import Exercise
from grader.declaration.lesson import Lesson
from grader.grading.dependencies import foundations
from grader.records import Outcome, Verdict

NOTE = "The training was at fault and not the code: it was repeated from another seed, and that run counted."


def trainings_to_repeat(lesson: Lesson, submitted: Mapping[str, Verdict]) -> list[str]:
    """List the ids of the exercises whose training may have failed by chance.

    An exercise that builds on a failed exercise is not listed: follow-through judges it again.
    """
    failed = {id for id, verdict in submitted.items() if verdict.outcome is not Outcome.PASSED}
    return [
        id
        for id in failed
        if only_training_failed(lesson.exercise(id), submitted[id]) and not foundations(lesson, id) & failed
    ]


def only_training_failed(exercise: Exercise, verdict: Verdict) -> bool:
    """Tell whether an exercise failed, but only in checks of an object that a given cell trained."""
    trained = {check.name for check in exercise.checks if check.at}
    failed = {check.name for check in verdict.checks if check.outcome is not Outcome.PASSED}
    return bool(failed) and failed <= trained and verdict.outcome is Outcome.FAILED


def better_training(first: Verdict, second: Verdict) -> Verdict:
    """Return the verdict with more points, the first if they are equal; add a note to the second."""
    return first if second.points <= first.points else replace(second, notes=(*first.notes, NOTE))
