"""Judge an answer once more with the task's defaults, so that one wrong default does not cost all points.

Most checks call an answer as the course does, and leave out what has a default. An answer whose default is another one then
fails them all, although nothing else is wrong. So the trials that failed run again with the task's default in the answer's
source, at the end of the same run. The first check that is right then keeps half of its points, since it is the default that
it fails for; the others count as they are then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.declare.builtin_names import operators
from grader.declare.exercise import Exercise
from grader.explain.code.read_code import searchable
from grader.explain.defaults import WrongDefault, with_task_defaults, wrong_defaults
from grader.grading.try_repairs import Ask, in_sandbox
from grader.judge.reference_results import ReferenceResults
from grader.judge.slips import KEEPS
from grader.judge.verdicts import Judged, Tried, verdict_of, was_called
from grader.records import CheckResult, Evidence, Outcome, Request, Status, Verdict

RIGHT = Judged(Outcome.PASSED)


def judge_defaults(
    exercise: Exercise,
    verdict: Verdict,
    tried: Sequence[Tried],
    source: str,
    results: ReferenceResults,
    ask: Ask,
    device: str = "cpu",
) -> Verdict:
    """Return the verdict on an answer, better if it has wrong defaults and is right with the task's.

    Args:
        verdict: the one on the answer as it stands.
        tried: its trials, with what came back.
        source: the answer.
        ask: runs a probe in the interpreter that has run the answer.
        device: where that interpreter computes.
    """
    wrong = wrong_defaults(searchable(source), exercise.defaults)
    failing = [one for one in tried if one.found.outcome is Outcome.FAILED and was_called(one.trial, one.got)]
    if not wrong or not failing or verdict.outcome is not Outcome.FAILED:
        return verdict
    try_ = in_sandbox([one.trial for one in failing], results, _without_builtins(exercise, ask), device)
    changed = [with_task_defaults(source, wrong)]
    # One by one: the inputs of a trial are compared with what they are afterwards, and not with those of another trial.
    right = {one.trial.key for index, one in enumerate(failing) if try_(changed, [index])[0][0]}
    again = [one._replace(found=RIGHT) if one.trial.key in right else one for one in tried]
    return _half_of_the_first(verdict, verdict_of(exercise, again, results, device), wrong)


def _without_builtins(exercise: Exercise, ask: Ask) -> Ask:
    """Return an `ask` that refuses what the answer computes with a built-in that it should write."""
    watched = operators(exercise.bans)

    def ask_watched(request: Request) -> Mapping[str, Evidence]:
        return {key: _refused(got) for key, got in ask(replace(request, watched=watched)).items()}

    return ask_watched


def _refused(got: Evidence) -> Evidence:
    """Return what came back, as refused where the answer itself called a built-in."""
    return replace(got, status=Status.REFUSED) if any(not owner for _, owner in got.trips) else got


def _half_of_the_first(before: Verdict, after: Verdict, wrong: Sequence[WrongDefault]) -> Verdict:
    """Return the verdict with the task's defaults, in which the first check that fails without them keeps half of its points."""

    def is_mended(old: CheckResult, new: CheckResult) -> bool:
        return old.outcome is Outcome.FAILED and new.outcome is Outcome.PASSED

    pairs = list(zip(before.checks, after.checks, strict=True))
    first = next((index for index, pair in enumerate(pairs) if is_mended(*pair)), None)
    if first is None:
        return before
    checks = list(after.checks)
    checks[first] = replace(before.checks[first], points=KEEPS * checks[first].points)
    points = sum(check.points for check in checks)
    if points <= before.points:
        return before
    names = ", ".join(f"{one.parameter}={one.expected!r}" for one in wrong)
    note = f"Judged with the task's default, {names}: one wrong default costs half of the first check that it fails."
    return replace(before, points=points, checks=tuple(checks), notes=(*after.notes, note))
