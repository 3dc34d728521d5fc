"""Have the sandbox try small changes of wrong answers: the change that makes one right shows where its mistake is."""

import inspect
from collections.abc import Generator, Mapping, Sequence

from grader.explain.repairs import run_repaired
from grader.explain.repairs.find_repair import Attempt, Search
from grader.explain.repairs.repairs import Repair
from grader.judge.planned_trial import PlannedTrial, source_of
from grader.judge.reference_results import ReferenceResults
from grader.judge.verdicts import judge_trial
from grader.records import Evidence, Outcome, Request, Status

FUTURE = "from __future__ import annotations"


def repair_requests(
    search: Search,
    planned: Sequence[PlannedTrial],
    results: ReferenceResults,
    evidence: Mapping[str, Evidence],
    device: str,
) -> Generator[Request, None, Repair | None]:
    """Yield requests that try changes of an answer, and return the change that makes it right; None if there is none.

    Args:
        search: yields what to try.
        planned: the trials that it counts, all of one exercise.
        evidence: what came back, by the request's key; the evidence of a request must be there when the next is asked for.
    """
    exercise = planned[0].exercise
    passed: list[list[bool | None]] | None = None
    count = 0
    while True:
        try:
            attempt: Attempt = next(search) if passed is None else search.send(passed)
        except StopIteration as end:
            return end.value
        passed = [[None] * len(attempt.trials) for _ in attempt.sources]
        by_check: dict[str, list[int]] = {}  # places in the trials of the attempt
        for place, index in enumerate(attempt.trials):
            by_check.setdefault(planned[index].check.name, []).append(place)
        for places in by_check.values():
            key, count = f"{exercise.id}/repairs/{count}", count + 1
            trials = [planned[attempt.trials[place]] for place in places]
            yield _request(key, trials, attempt.sources, exercise.defines[0])
            tried = evidence[key].values.get("tried") if evidence[key].status is Status.OK else None
            for number in range(len(attempt.sources)):
                for column, (place, trial) in enumerate(zip(places, trials, strict=True)):
                    value = _values_of(tried, number, column)
                    if value is not None:
                        passed[number][place] = _passes(trial, value, results, device)


def _request(key: str, trials: Sequence[PlannedTrial], sources: list[str], defines: str) -> Request:
    """Make the request that runs the probe of one check on changed answers."""
    check = trials[0].check
    # The module that runs changed answers goes first: its import from __future__ must be the first statement.
    probe = source_of(check.probe).removeprefix(FUTURE)
    source = f"{inspect.getsource(run_repaired)}\n\n{probe}\n\nPROBE = {check.probe.__name__}"
    inputs = {"sources": sources, "names": dict(check.names), "trials": [dict(trial.inputs) for trial in trials]}
    return Request(
        key=key,
        source=source,
        function=run_repaired.probe_repaired.__name__,
        inputs=inputs,
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
