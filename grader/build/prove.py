"""Proves a lesson's declarations.

The reference must pass its own checks. Each declared mistake must fail them, and must be
recognised by name.

Only the author's own code runs here, so no sandbox is needed. `grader check` shows that the
solution in the notebook passes, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.declare.exercise import Check, Exercise, Mistake
from grader.declare.lesson import Lesson
from grader.declare.sampler import InputSampler
from grader.explain.diagnose import diagnose, wrong_answer
from grader.judge.call_probe import parameters
from grader.judge.planned_trial import PlannedTrial, plan_exercise
from grader.judge.reference_results import ReferenceResults
from grader.judge.verdicts import judge, judge_trials, verdict_of
from grader.records import Evidence, Outcome

DRAWS = ("one", "two", "three")  # hidden inputs are drawn so often: a mistake may pass on one draw and not on another


@dataclass(frozen=True, kw_only=True)
class Proof:
    """The result of proving one exercise."""

    exercise: Exercise
    problems: tuple[str, ...]  # the reference fails, or a mistake passes
    remarks: tuple[str, ...]  # a mistake fails, but students read another hint
    left_out: tuple[str, ...]  # titles of checks that need results of the notebook, such as a trained model


def prove(lesson: Lesson, only: str | None = None) -> Iterator[Proof]:
    """Yield a proof for each exercise of a lesson.

    Args:
        only: the id of a single exercise to prove, or None for all exercises.
    """
    for exercise in lesson.exercises:
        if only not in (None, exercise.id):
            continue
        kept = [check for check in exercise.checks if _stands_alone(lesson, check)]
        names = {check.name for check in kept}
        kept = [replace(check, needs=tuple(need for need in check.needs if need in names)) for check in kept]
        part = replace(exercise, checks=tuple(kept), points=sum(check.points for check in kept))
        problems = tuple(_problems(lesson, part))
        yield Proof(
            exercise=exercise,
            problems=problems,
            remarks=() if problems else tuple(_other_hints(lesson, part)),
            left_out=tuple(check.title for check in exercise.checks if check.name not in names),
        )


def _problems(lesson: Lesson, exercise: Exercise) -> Iterator[str]:
    """Yield the problems of an exercise on several draws of its hidden inputs."""
    # Results are kept by trial, and each draw has the same trials with other inputs.
    plans = [(plan_exercise(exercise, "proof", draw), ReferenceResults(lesson.reference)) for draw in DRAWS]
    for planned, ours in plans:
        right = judge(exercise, planned, {one.key: ours.right(one) for one in planned}, ours)
        if right.outcome is not Outcome.PASSED:
            yield f"the reference does not pass: {right.message}"
            return
    for wrong in exercise.mistakes:
        tried = [_evidence(planned, ours, wrong) for planned, ours in plans]
        raised = (one.message for evidence in tried for one in evidence.values() if one.error == "NameError")
        if misspelt := next(raised, ""):
            yield f"{wrong.name} raises NameError: {misspelt}. Is the change spelt right?"
            continue
        verdicts = [
            judge(exercise, planned, evidence, ours) for (planned, ours), evidence in zip(plans, tried, strict=True)
        ]
        if passed := sum(verdict.outcome is Outcome.PASSED for verdict in verdicts):
            yield _passes(wrong.name, passed)


def _passes(name: str, passed: int) -> str:
    """Return a message about a mistake that passes all checks.

    Args:
        passed: the number of draws of the hidden inputs on which it passes.
    """
    if passed == len(DRAWS):
        return (
            f"{name} passes every check: no trial distinguishes it from the right answer. Add one that does, or drop it"
        )
    return (
        f"{name} passes on {passed} of {len(DRAWS)} draws of the hidden inputs: only some inputs show it. "
        "Add a trial that shows it on every draw, or drop it"
    )


def _other_hints(lesson: Lesson, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence about each mistake that fails although students would read another hint than its own."""
    planned, ours = plan_exercise(exercise, "proof", DRAWS[0]), ReferenceResults(lesson.reference)
    for wrong in exercise.mistakes:
        tried = judge_trials(planned, _evidence(planned, ours, wrong), ours)
        verdict = verdict_of(exercise, tried, ours)
        told = diagnose(verdict, wrong_answer(exercise, verdict, tried, ours))
        if told.mistake != wrong.name:
            instead = f"the hint of {told.mistake}" if told.mistake else f"{told.hint!r}" if told.hint else "no hint"
            instead += "" if told.hint else f", only this: {verdict.message}. Draw inputs on which more is off"
            yield f"{wrong.name} fails, and students read {instead}"


def _evidence(planned: Sequence[PlannedTrial], ours: ReferenceResults, wrong: Mistake) -> dict[str, Evidence]:
    """Map each trial's key to the result of an answer that is right except for a declared mistake."""
    return {one.key: ours.wrong(one, wrong) for one in planned}


def _stands_alone(lesson: Lesson, check: Check) -> bool:
    """Return True if a check needs only its inputs and names that the reference defines.

    A name with the value None in the reference is a trained model, and does not count as defined.
    """
    given = check.trials[0].draw(InputSampler("proof")) if check.trials else {}
    there = {*given, *(name for name, value in lesson.reference.items() if value is not None)}
    return {check.names.get(name, name) for name in parameters(check.probe)} <= there
