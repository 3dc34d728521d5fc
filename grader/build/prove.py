"""Prove a lesson's declarations: the reference passes its own checks, and each declared mistake fails them and is named.

Only the author's own code runs here, so no sandbox is needed. That the solution in the notebook passes, too, is seen by
`grader check`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.checks.judge import judge
from grader.checks.plan import plan_exercise
from grader.checks.planned_trial import PlannedTrial, parameters
from grader.checks.reference_results import ReferenceResults
from grader.declaration.exercise import Check, Exercise, Mistake
from grader.declaration.lesson import Lesson
from grader.declaration.sampler import InputSampler
from grader.diagnosis.diagnose import diagnose, wrong_answer
from grader.records import Evidence, Outcome, Verdict

DRAWS = ("one", "two", "three")  # hidden inputs are drawn so often: a mistake may hide from one draw


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What was found of one exercise."""

    exercise: Exercise
    problems: tuple[str, ...]
    left_out: tuple[str, ...]  # checks of what the notebook's own cells make, such as a trained model


def prove(lesson: Lesson) -> Iterator[Proof]:
    """Yield a proof for each exercise of a lesson."""
    for exercise in lesson.exercises:
        kept = [check for check in exercise.checks if _stands_alone(lesson, check)]
        names = {check.name for check in kept}
        kept = [replace(check, needs=tuple(need for need in check.needs if need in names)) for check in kept]
        part = replace(exercise, checks=tuple(kept), points=sum(check.points for check in kept))
        problems = dict.fromkeys(problem for draw in DRAWS for problem in _problems(lesson, part, draw))
        left_out = tuple(check.title for check in exercise.checks if check.name not in names)
        yield Proof(exercise=exercise, problems=tuple(problems), left_out=left_out)


def _problems(lesson: Lesson, exercise: Exercise, draw: str) -> Iterator[str]:
    """Yield what is wrong with an exercise on one draw of its hidden inputs."""
    if not exercise.checks:
        return
    planned = plan_exercise(exercise, "proof", draw)
    ours = ReferenceResults(lesson.reference)
    right = judge(exercise, planned, {one.key: ours.right(one) for one in planned}, ours)
    if right.outcome is not Outcome.PASSED:
        yield f"the reference does not pass: {right.message}"
        return
    for wrong in exercise.mistakes:
        verdict = _verdict(exercise, planned, ours, wrong)
        if verdict.outcome is Outcome.PASSED:
            yield f"{wrong.name} passes every check: no trial tells it from the right answer. Add a trial that does"
        elif verdict.mistake != wrong.name:
            told = f"students read the hint of {verdict.mistake}" if verdict.mistake else "its hint is not shown"
            yield f"{wrong.name} fails, but {told}. Add a trial on which the two differ, or drop one"


def _verdict(
    exercise: Exercise, planned: Sequence[PlannedTrial], ours: ReferenceResults, wrong: Mistake
) -> Verdict:
    """Judge and explain an answer that makes a declared mistake, and is right otherwise."""
    evidence: dict[str, Evidence] = {one.key: ours.wrong(one, wrong) for one in planned}
    verdict = judge(exercise, planned, evidence, ours)
    return diagnose(verdict, wrong_answer(exercise, verdict, planned, evidence, ours), lambda: None)


def _stands_alone(lesson: Lesson, check: Check) -> bool:
    """Tell whether a check needs nothing but the reference and its inputs."""
    there = lesson.reference.keys() | check.trials[0].draw(InputSampler("proof")).keys() if check.trials else set()
    return {check.names.get(name, name) for name in parameters(check.probe)} <= there
