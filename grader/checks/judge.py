"""Judge the evidence of an exercise: which checks passed, how many points it earns, which mistake it shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
    """Judge one exercise.

    Args:
        planned: the trials of this exercise.
        evidence: what came back from the sandbox, by the trial's key; a trial without evidence counts as
            missing.
        reference_results: what the reference returns; all exercises of a submission share it, so that each
            result is computed once.
        device: where the evidence was computed.
    """
    findings = {
        trial.key: _judge_trial(trial, _evidence_of(trial, evidence), reference_results, device)
        for trial in planned
    }
    results = _judge_checks(exercise, planned, findings)
    points = sum(result.points for result in results)
    failing = next((result for result in results if result.outcome is not Outcome.PASSED), None)
    recognised = None
    if failing is not None and failing.outcome is Outcome.FAILED:
        failing_trials = [trial for trial in planned if trial.check.name == failing.name]
        recognised = recognise(exercise, failing_trials, evidence, reference_results)
    return Verdict(
        id=exercise.id,
        name=exercise.name,
        title=exercise.title,
        outcome=_outcome(results, points),
        points=points,
        max_points=exercise.points,
        message=failing.message if failing else "",
        mistake=recognised.name if recognised else None,
        hint=recognised.hint if recognised else "",
        review=exercise.review if failing else "",
        checks=tuple(results),
        heatmaps=tuple(_heatmaps(planned, evidence, reference_results)),
    )


def _judge_checks(
    exercise: Exercise, planned: Sequence[PlannedTrial], findings: Mapping[str, tuple[Outcome, str]]
) -> list[CheckResult]:
    """Return the result of each check. A check earns points only if all checks that it needs earned theirs.

    Args:
        findings: outcome and message of each trial, by the trial's key.
    """
    passed: set[str] = set()
    results = []
    for check in exercise.checks:
        trials = [trial for trial in planned if trial.check is check]
        earns = set(check.needs) <= passed
        result = _judge_check(check, trials, findings, earns)
        if result.outcome is Outcome.PASSED and earns:
            passed.add(check.name)
        results.append(result)
    return results


def _outcome(results: Sequence[CheckResult], points: float) -> Outcome:
    """Return the outcome of an exercise from those of its checks.

    It is FAULT if any check has FAULT, and PASSED if all checks passed. Else it is FAILED if the exercise
    earns points, and otherwise the first outcome that is not PASSED.
    """
    outcomes = [result.outcome for result in results]
    if Outcome.FAULT in outcomes:
        return Outcome.FAULT
    outcome = next((outcome for outcome in outcomes if outcome is not Outcome.PASSED), Outcome.PASSED)
    return Outcome.FAILED if outcome is not Outcome.PASSED and points > 0 else outcome


def recognise(
    exercise: Exercise,
    failing: Sequence[PlannedTrial],
    evidence: Mapping[str, Evidence],
    reference_results: ReferenceResults,
) -> Mistake | None:
    """Find the declared mistake that gives what the answer gave, on every trial of the failing check.

    If several mistakes do, return the first that is declared: no trial tells them apart.

    Args:
        failing: the trials of the failing check.
    """
    for mistake in exercise.mistakes:
        if all(
            _same(_evidence_of(trial, evidence), reference_results.wrong(trial, mistake), trial.check.rtol)
            for trial in failing
        ):
            return mistake
    return None


def _same(got: Evidence, wrong: Evidence, rtol: float) -> bool:
    """Tell whether an answer and a mistake raised the same error, or returned the same values.

    Values are the same within ten times the allowed difference.
    """
    if got.status is Status.RAISED:
        # Compare the text, too: exceptions of one class have many causes, but a text that names the same
        # shapes has one.
        return wrong.status is Status.RAISED and (got.error, got.message) == (wrong.error, wrong.message)
    if got.status is not Status.OK or wrong.status is not Status.OK:
        return False
    return compare(got.values, wrong.values, rtol=rtol * 10).passed


def _evidence_of(trial: PlannedTrial, evidence: Mapping[str, Evidence]) -> Evidence:
    """Return the evidence for a trial; if none came back, the evidence that an undefined name would give."""
    missing = Evidence(
        key=trial.key,
        status=Status.RAISED,
        error="NameError",
        message=f"{trial.exercise.name} is not defined",
    )
    return evidence.get(trial.key, missing)


def _judge_trial(
    trial: PlannedTrial, got: Evidence, reference_results: ReferenceResults, device: str
) -> tuple[Outcome, str]:
    """Return the outcome of one trial, and the message about it."""
    if got.status is Status.OK:
        return _judge_values(trial, got, reference_results, device)
    if got.status is Status.RAISED:
        if got.error == "NotImplementedError" or "NotImplementedError" in got.lineage:
            return Outcome.MISSING, "not solved yet"
        if got.error == "NameError" and any(f"'{name}'" in got.message for name in trial.exercise.defines):
            return Outcome.MISSING, f"{trial.exercise.name} is not defined"
        if got.error == "NameError" and got.message.endswith("is not defined") and "'" not in got.message:
            return Outcome.MISSING, got.message
        return Outcome.FAILED, f"it raised {got.error}: {_first_line(got.message)}"
    if got.status is Status.TIMEOUT:
        return Outcome.TIMEOUT, got.message or "it did not answer in time"
    if got.status is Status.FAULT:
        return Outcome.FAULT, got.message
    return Outcome.FAILED, got.message or "the interpreter ended while it ran"


def _judge_values(
    trial: PlannedTrial, got: Evidence, reference_results: ReferenceResults, device: str
) -> tuple[Outcome, str]:
    """Let the check's own judge, or else `equals_reference`, judge the returned values.

    Return the outcome of the trial, and the message about it.
    """

    def expected() -> Mapping[str, Value]:
        """Compute what the reference returns; raise RuntimeError if the reference raises."""
        right = reference_results.right(trial)
        if right.status is not Status.OK:
            raise RuntimeError(f"{trial.key}: the reference raised {right.error}: {right.message}")
        return right.values

    check = trial.check
    case = Case(inputs=trial.inputs, got=got.values, expected=expected, rtol=check.rtol, device=device)
    try:
        finding: Finding = (check.judge or equals_reference)(case)
    # Any error here is a fault of the grader: it must not cost the student anything.
    except Exception as error:
        return Outcome.FAULT, f"the grader could not judge this ({type(error).__name__}: {error})"
    return (Outcome.PASSED, "") if finding.passed else (Outcome.FAILED, finding.message)


def _judge_check(
    check: Check, trials: Sequence[PlannedTrial], findings: Mapping[str, tuple[Outcome, str]], earns: bool
) -> CheckResult:
    """Return the result of one check over all its trials.

    The first trial that is not PASSED decides the outcome and the message, but a trial with FAULT goes first.

    Args:
        findings: outcome and message of each trial, by the trial's key.
        earns: whether the check earns its points if it passes.
    """
    failed = [
        (trial, *findings[trial.key]) for trial in trials if findings[trial.key][0] is not Outcome.PASSED
    ]
    worst = next((entry for entry in failed if entry[1] is Outcome.FAULT), failed[0] if failed else None)
    outcome, message = Outcome.PASSED, ""
    if worst is not None:
        trial, outcome, text = worst
        message = text if outcome is Outcome.MISSING else f"{trial.trial.describe}: {text}"
    return CheckResult(
        name=check.name,
        title=check.title,
        outcome=outcome,
        points=check.points if outcome is Outcome.PASSED and earns else 0.0,
        max_points=check.points,
        message=message,
        trials=len(trials),
    )


def _heatmaps(
    planned: Sequence[PlannedTrial], evidence: Mapping[str, Evidence], reference_results: ReferenceResults
) -> Iterator[Heatmap]:
    """Yield the attention maps of public trials beside the reference's, if the shapes agree."""
    for trial in planned:
        got, name = _evidence_of(trial, evidence), trial.check.map
        if not (trial.public and name and got.status is Status.OK):
            continue
        weights, right = got.values.get(name), reference_results.right(trial).values.get(name)
        if (
            isinstance(weights, Tensor)
            and isinstance(right, Tensor)
            and weights.shape == right.shape
            and right.ndim >= 2
        ):
            yield Heatmap(title=trial.trial.describe, got=_rows(weights), expected=_rows(right))


def _rows(weights: Tensor) -> tuple[tuple[float, ...], ...]:
    """Return the rows of the first matrix in a batch of attention weights."""
    matrix = weights.detach().double().reshape(-1, *weights.shape[-2:])[0]
    return tuple(tuple(row) for row in matrix.tolist())


def _first_line(message: str) -> str:
    """Return the first line of a message, cut to 200 characters."""
    line = message.strip().splitlines()[0] if message.strip() else ""
    return line if len(line) <= 200 else line[:197] + "…"
