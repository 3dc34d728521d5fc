"""From a lesson's declaration to the trials that a submission is asked."""

from __future__ import annotations

from collections.abc import Iterator

from grader.checks.planned_trial import PlannedTrial
from grader.declaration.exercise import Check, Exercise
from grader.declaration.lesson import Lesson
from grader.declaration.sampler import InputSampler
from grader.notebook.cells import answer_cell


def plan(lesson: Lesson, secret: str, submission_sha256: str) -> tuple[PlannedTrial, ...]:
    """Every trial of a lesson for one submission.

    Hidden inputs are keyed by the course secret and the submission's content: unpredictable for the student,
    the same again on a regrade. Public ones are the same for everybody, and in the notebook's self-check.
    """
    return tuple(
        one
        for exercise in lesson.exercises
        for check in exercise.checks
        for public in (True, False)
        for one in _draw(exercise, check, public, () if public else (secret, submission_sha256))
    )


def examples(exercise: Exercise) -> tuple[PlannedTrial, ...]:
    """The public trials of one exercise."""
    return tuple(one for check in exercise.checks for one in _draw(exercise, check, True, ()))


def _draw(exercise: Exercise, check: Check, public: bool, key: tuple[str, ...]) -> Iterator[PlannedTrial]:
    kind = "public" if public else "hidden"
    for index, trial in enumerate(check.examples if public else check.trials):
        name = f"{exercise.id}/{check.name}/{kind}/{index}"
        yield PlannedTrial(
            key=name,
            exercise=exercise,
            check=check,
            trial=trial,
            public=public,
            inputs=trial.draw(InputSampler(*key, name)),
            cell=check.at or answer_cell(exercise.id),
        )
