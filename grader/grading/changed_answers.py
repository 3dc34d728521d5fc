"""Run changed versions of a wrong answer in the sandbox.

`in_sandbox` tries small changes. A change that makes an answer right shows where the mistake is.

`judge_defaults` judges an answer once more with the task's default values of parameters, so that one wrong default does
not cost all points. Most checks call an answer as the course does, and leave out arguments that have a default. So an
answer with another default fails all these checks, although nothing else is wrong with it. The trials that failed
therefore run again at the end of the same run, with the task's default in the answer's source. The first check that
is right then keeps half of its points, because the default is the reason why it fails. The other checks get the points
that they earn with the task's default.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from grader.declare.builtin_names import operators
from grader.declare.exercise import Exercise
from grader.explain.code.read_code import searchable
from grader.explain.defaults import WrongDefault, with_task_defaults, wrong_defaults
from grader.explain.repairs import run_repaired
from grader.explain.repairs.find_repair import Try
from grader.judge.planned_trial import PlannedTrial, source_of
from grader.judge.reference_results import ReferenceResults
from grader.judge.verdicts import SLIP_KEEPS, Judged, Tried, judge_trial, verdict_of, was_called
from grader.records import CheckResult, Evidence, Outcome, Request, Status, Verdict

Ask = Callable[[Request], Mapping[str, Evidence]]  # runs a probe in the interpreter that has run the notebook
FUTURE = "from __future__ import annotations"


def in_sandbox(planned: Sequence[PlannedTrial], results: ReferenceResults, ask: Ask, device: str) -> Try:
    """Return a function that runs changed versions of an answer in the sandbox, and judges their results.

    Args:
        planned: the trials that the function can run, all of one exercise.
        results: the reference's results.
        ask: runs a probe in the interpreter that has run the answer.
        device: the device on which that interpreter computes.
    """
    exercise, numbers = planned[0].exercise, count()

    def try_(sources: Sequence[str], indices: Sequence[int]) -> list[list[bool | None]]:
        passed: list[list[bool | None]] = [[None] * len(indices) for _ in sources]
        by_check: dict[str, list[int]] = {}  # places in `indices`
        for place, index in enumerate(indices):
            by_check.setdefault(planned[index].check.name, []).append(place)
        for places in by_check.values():
            trials = [planned[indices[place]] for place in places]
            key = f"{exercise.id}/repairs/{next(numbers)}"
            got = ask(_request(key, trials, sources, exercise.defines[0]))[key]
            tried = got.values.get("tried") if got.status is Status.OK else None
            for number in range(len(sources)):
                for column, (place, trial) in enumerate(zip(places, trials, strict=True)):
                    value = _values_of(tried, number, column)
                    if value is not None:
                        passed[number][place] = _passes(trial, value, results, device)
        return passed

    return try_


def _request(key: str, trials: Sequence[PlannedTrial], sources: Sequence[str], defines: str) -> Request:
    """Return the request that runs the probe of one check on changed answers."""
    check = trials[0].check
    # The module that runs changed answers goes first: its import from __future__ must be the first statement.
    probe = source_of(check.probe).removeprefix(FUTURE)
    source = f"{inspect.getsource(run_repaired)}\n\n{probe}\n\nPROBE = {check.probe.__name__}"
    of_trials = {str(number): dict(trial.inputs) for number, trial in enumerate(trials)}
    inputs = {"sources": list(sources), "names": dict(check.names), "trials": of_trials}
    return Request(
        key=key,
        source=source,
        function=run_repaired.probe_repaired.__name__,
        trials={key: inputs},
        seconds=run_repaired.PATIENCE * run_repaired.SECONDS + 1,
        names={"definition": defines},
        group=key.rpartition("/")[0],  # changed answers run in a copy of the notebook's names, so they may share a fork
    )


def _values_of(tried: object, source: int, trial: int) -> Mapping | None:
    """Return the values that a changed answer returned on a trial.

    Args:
        tried: the sandbox's reply, which is not trusted.
        source: the number of the changed answer, from 0.
        trial: the number of the trial, from 0.

    Returns:
        The values, or None if the reply does not contain them.
    """
    try:
        values = tried[source][trial]  # type: ignore[index]
    except (TypeError, LookupError):  # the sandbox may have sent anything
        return None
    return values if isinstance(values, Mapping) else None


def _passes(trial: PlannedTrial, value: Mapping, results: ReferenceResults, device: str) -> bool:
    evidence = Evidence(key=trial.key, status=Status.OK, values=value)
    return judge_trial(trial, evidence, results, device).outcome is Outcome.PASSED


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
    """Return the verdict on an answer, improved if the answer earns more points with the task's default values.

    Args:
        verdict: the verdict on the answer as it was submitted.
        tried: the answer's trials, with their results.
        source: the source of the answer.
        results: the reference's results.
        ask: runs a probe in the interpreter that has run the answer.
        device: the device on which that interpreter computes.
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
    """Return an `ask` that rejects a result if the answer computed it with a built-in that it should implement."""
    watched = operators(exercise.bans)

    def ask_watched(request: Request) -> Mapping[str, Evidence]:
        return {key: _refused(got) for key, got in ask(replace(request, watched=watched)).items()}

    return ask_watched


def _refused(got: Evidence) -> Evidence:
    """Return the evidence, with the status REFUSED if the answer itself called a built-in."""
    return replace(got, status=Status.REFUSED) if any(not owner for _, owner in got.trips) else got


def _half_of_the_first(before: Verdict, after: Verdict, wrong: Sequence[WrongDefault]) -> Verdict:
    """Return the verdict with half of the points of the first check that the task's defaults fix.

    The other checks get the points that they earn with these defaults. If that gives no more points in total than
    before, return the verdict `before`.
    """

    def is_mended(old: CheckResult, new: CheckResult) -> bool:
        return old.outcome is Outcome.FAILED and new.outcome is Outcome.PASSED

    pairs = list(zip(before.checks, after.checks, strict=True))
    first = next((index for index, pair in enumerate(pairs) if is_mended(*pair)), None)
    if first is None:
        return before
    checks = list(after.checks)
    checks[first] = replace(before.checks[first], points=SLIP_KEEPS * checks[first].points)
    points = sum(check.points for check in checks)
    if points <= before.points:
        return before
    names = ", ".join(f"{one.parameter}={one.expected!r}" for one in wrong)
    note = f"Judged with the task's default, {names}: one wrong default costs half of the first check that it fails."
    return replace(before, points=points, checks=tuple(checks), notes=(*after.notes, note))
