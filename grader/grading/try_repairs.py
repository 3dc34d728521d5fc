"""Have the sandbox try small changes of wrong answers: the change that makes one right shows where its mistake is."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import count

from grader.explain.repairs import run_repaired
from grader.explain.repairs.find_repair import Try
from grader.judge.planned_trial import PlannedTrial, source_of
from grader.judge.reference_results import ReferenceResults
from grader.judge.verdicts import judge_trial
from grader.records import Evidence, Outcome, Request, Status

Ask = Callable[[Request], Mapping[str, Evidence]]  # runs a probe in the interpreter that has run the notebook
FUTURE = "from __future__ import annotations"


def in_sandbox(planned: Sequence[PlannedTrial], results: ReferenceResults, ask: Ask, device: str) -> Try:
    """Return the function that runs changed versions of an answer in the sandbox, and judges what comes back.

    Args:
        planned: the trials that it chooses from, all of one exercise.
        ask: runs a probe in the interpreter that has run the answer.
        device: where that interpreter computes.
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
    """Make the request that runs the probe of one check on changed answers."""
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
    """Return what the changed answer number `source` gave on trial number `trial`; None if the sandbox sent no such thing."""
    try:
        values = tried[source][trial]  # type: ignore[index]
    except (TypeError, LookupError):  # the sandbox may have sent anything
        return None
    return values if isinstance(values, Mapping) else None


def _passes(trial: PlannedTrial, value: Mapping, results: ReferenceResults, device: str) -> bool:
    evidence = Evidence(key=trial.key, status=Status.OK, values=value)
    return judge_trial(trial, evidence, results, device).outcome is Outcome.PASSED
