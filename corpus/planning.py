"""Draw every trial of a lesson at once, for tests and benchmarks; the grader plans exercise by exercise."""

from grader.declare.lesson import Lesson
from grader.declare.validate import refuse_unknown_names
from grader.judge.planned_trial import PlannedTrial, plan_exercise


def plan(lesson: Lesson, secret: str, submission_sha256: str) -> tuple[PlannedTrial, ...]:
    """Draw every trial of a lesson; the arguments are those of `plan_exercise`.

    Raises:
        DeclarationError: a probe asks for a name that is neither an input nor one of the lesson's.
    """
    trials = tuple(
        trial for exercise in lesson.exercises for trial in plan_exercise(exercise, secret, submission_sha256)
    )
    for trial in trials:
        refuse_unknown_names(lesson, trial.exercise, trial.check, trial.inputs.keys())
    return trials
