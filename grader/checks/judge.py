"""Evidence → verdicts: which checks passed, what it is worth, and which mistake it looks like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from grader.checks.compare import compare, equals_reference
from grader.checks.planned_trial import PlannedTrial
from grader.checks.reference_results import ReferenceResults
from grader.declaration.exercise import Check, Exercise, Mistake
from grader.records import (
    Case,
    CheckResult,
    Evidence,
    Finding,
    Heatmap,
    Outcome,
    Status,
    Value,
    Verdict,
)


def judge(
    exercise: Exercise,
    planned: Sequence[PlannedTrial],
    evidence: Mapping[str, Evidence],
    reference_results: ReferenceResults,
    device: str = "cpu",
) -> Verdict:
    """The verdict on one exercise.

    Args:
        planned: the trials of this exercise.
        evidence: what came back, by key; a trial without evidence counts as missing.
        device: where it was computed.
        reference_results: shared by all exercises of a submission, so that nothing is computed twice.
    """
    findings = {one.key: _find(one, _evidence(one, evidence), reference_results, device) for one in planned}
    passed: set[str] = set()
    results = []
    for check in exercise.checks:
        mine = [one for one in planned if one.check is check]
        result = _check(check, mine, findings, earns=set(check.needs) <= passed)
        if result.outcome is Outcome.PASSED and set(check.needs) <= passed:
            passed.add(check.name)
        results.append(result)
    points = sum(result.points for result in results)
    failing = next((result for result in results if result.outcome is not Outcome.PASSED), None)
    outcome = Outcome.PASSED if failing is None else failing.outcome
    if any(result.outcome is Outcome.FAULT for result in results):
        outcome = Outcome.FAULT
    elif outcome is not Outcome.PASSED and points > 0:
        outcome = Outcome.FAILED
    recognised = None
    if failing is not None and failing.outcome is Outcome.FAILED:
        tried = [one for one in planned if one.check.name == failing.name]
        recognised = recognise(exercise, tried, evidence, reference_results)
    return Verdict(
        id=exercise.id,
        name=exercise.name,
        title=exercise.title,
        outcome=outcome,
        points=points,
        max_points=exercise.points,
        message=failing.message if failing else "",
        mistake=recognised.name if recognised else None,
        hint=recognised.hint if recognised else "",
        review=exercise.review if failing else "",
        checks=tuple(results),
        heatmaps=tuple(_heatmaps(planned, evidence, reference_results)),
    )


def recognise(
    exercise: Exercise,
    failing: Sequence[PlannedTrial],
    evidence: Mapping[str, Evidence],
    reference_results: ReferenceResults,
) -> Mistake | None:
    """The mistake that returns what the student's answer returned, on every trial of the failing check.

    Where several do, the first declared is named: they agree on all that was seen.
    """
    for candidate in exercise.mistakes:
        if all(
            _same(_evidence(one, evidence), reference_results.wrong(one, candidate), one.check.rtol)
            for one in failing
        ):
            return candidate
    return None


def _same(got: Evidence, wrong: Evidence, rtol: float) -> bool:
    if got.status is Status.RAISED:
        # One class has many causes; the same text about the same shapes is the same cause.
        return wrong.status is Status.RAISED and (got.error, got.message) == (wrong.error, wrong.message)
    if got.status is not Status.OK or wrong.status is not Status.OK:
        return False
    return compare(got.values, wrong.values, rtol=rtol * 10).passed


def _evidence(one: PlannedTrial, evidence: Mapping[str, Evidence]) -> Evidence:
    missing = Evidence(
        key=one.key, status=Status.RAISED, error="NameError", message=f"{one.exercise.name} is not defined"
    )
    return evidence.get(one.key, missing)


def _find(
    one: PlannedTrial, got: Evidence, reference_results: ReferenceResults, device: str
) -> tuple[Outcome, str]:
    """The outcome of one trial, and what to say about it."""
    if got.status is Status.OK:

        def expected() -> Mapping[str, Value]:
            right = reference_results.right(one)
            if right.status is not Status.OK:
                raise RuntimeError(f"{one.key}: the reference raised {right.error}: {right.message}")
            return right.values

        case = Case(inputs=one.inputs, got=got.values, expected=expected, rtol=one.check.rtol, device=device)
        try:
            finding: Finding = (one.check.judge or equals_reference)(case)
        except (
            Exception
        ) as error:  # whatever it is, it is reference_results: it must not cost the student anything
            return Outcome.FAULT, f"the grader could not judge this ({type(error).__name__}: {error})"
        return (Outcome.PASSED, "") if finding.passed else (Outcome.FAILED, finding.message)
    if got.status is Status.RAISED:
        if got.error == "NotImplementedError" or "NotImplementedError" in got.lineage:
            return Outcome.MISSING, "not solved yet"
        if got.error == "NameError" and any(f"'{name}'" in got.message for name in one.exercise.defines):
            return Outcome.MISSING, f"{one.exercise.name} is not defined"
        if got.error == "NameError" and got.message.endswith("is not defined") and "'" not in got.message:
            return Outcome.MISSING, got.message
        return Outcome.FAILED, f"it raised {got.error}: {_first_line(got.message)}"
    if got.status is Status.TIMEOUT:
        return Outcome.TIMEOUT, got.message or "it did not answer in time"
    if got.status is Status.FAULT:
        return Outcome.FAULT, got.message
    return Outcome.FAILED, got.message or "the interpreter ended while it ran"


def _check(
    check: Check, mine: Sequence[PlannedTrial], findings: Mapping[str, tuple[Outcome, str]], earns: bool
) -> CheckResult:
    failed = [(one, *findings[one.key]) for one in mine if findings[one.key][0] is not Outcome.PASSED]
    worst = next((entry for entry in failed if entry[1] is Outcome.FAULT), failed[0] if failed else None)
    outcome, message = Outcome.PASSED, ""
    if worst is not None:
        one, outcome, text = worst
        message = text if outcome is Outcome.MISSING else f"{one.trial.describe}: {text}"
    return CheckResult(
        name=check.name,
        title=check.title,
        outcome=outcome,
        points=check.points if outcome is Outcome.PASSED and earns else 0.0,
        max_points=check.points,
        message=message,
        trials=len(mine),
    )


def _heatmaps(
    planned: Sequence[PlannedTrial], evidence: Mapping[str, Evidence], reference_results: ReferenceResults
):
    """The attention maps of public examples, reference_results beside theirs; only where the shapes agree."""
    for one in planned:
        got = _evidence(one, evidence)
        if not (one.public and one.check.map and got.status is Status.OK):
            continue
        theirs, right = got.values.get(one.check.map), reference_results.right(one).values.get(one.check.map)
        if (
            isinstance(theirs, Tensor)
            and isinstance(right, Tensor)
            and theirs.shape == right.shape
            and right.ndim >= 2
        ):
            yield Heatmap(title=one.trial.describe, got=_rows(theirs), expected=_rows(right))


def _rows(weights: Tensor) -> tuple[tuple[float, ...], ...]:
    matrix = weights.detach().double().reshape(-1, *weights.shape[-2:])[0]
    return tuple(tuple(row) for row in matrix.tolist())


def _first_line(message: str) -> str:
    line = message.strip().splitlines()[0] if message.strip() else ""
    return line if len(line) <= 200 else line[:197] + "…"
