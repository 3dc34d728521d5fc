"""What is run again: trainings that verifying left undecided, and trainings that may have failed by chance."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from grader.declaration.lesson import Lesson
from grader.grading.dependencies import foundations
from grader.records import Outcome, Verdict

ATTEMPTS = 3  # whole trainings, each from another start
NOTE = "The training was at fault and not the code: it was repeated from another start, and that run counted."
WHOLE = (
    "A few steps of the training did not land where they should. So all of it was run, and that run counted."
)


def only_training_failed(lesson: Lesson, verdict: Verdict) -> bool:
    """Tell whether an exercise did not pass, and only because of checks on its training."""
    failed = {check.name for check in verdict.checks if check.outcome is not Outcome.PASSED}
    return (
        bool(failed)
        and failed <= lesson.training_checks(verdict.id)
        and verdict.outcome in (Outcome.FAILED, Outcome.TIMEOUT)
    )


def trainings_to_repeat(
    lesson: Lesson, verdicts: Mapping[str, Verdict], standing: Collection[str] = ()
) -> list[str]:
    """List the ids of the exercises of which only the training failed, and nothing that they build on.

    Args:
        verdicts: of one run, by exercise id.
        standing: exercises that failed before, and that no stand-in replaced in this run.
    """
    failed = {id for id, verdict in verdicts.items() if verdict.outcome is not Outcome.PASSED} | set(standing)
    return [
        id
        for id, verdict in verdicts.items()
        if only_training_failed(lesson, verdict) and not foundations(lesson, id) & failed
    ]


def better_training(first: Verdict, second: Verdict, note: str = NOTE) -> Verdict:
    """Return the verdict with more points, the first if they are equal; add a note to the second."""
    return first if second.points <= first.points else replace(second, notes=(*first.notes, note))
