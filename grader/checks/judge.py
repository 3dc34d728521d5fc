"""Evidence → verdicts: which checks passed, what it is worth, and which mistake it looks like."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from grader.checks.compare import compare, equals_reference
from grader.checks.plan import Planned, parameters
from grader.exercise import (
    Case,
    Check,
    CheckResult,
    Evidence,
    Exercise,
    Finding,
    Heatmap,
    Inputs,
    Lesson,
    Mistake,
    Outcome,
    Status,
    Value,
    Verdict,
)


def run_here(probe, namespace: Mapping[str, object], inputs: Inputs, key: str = "") -> Evidence:
    """Run a probe in this process, with definitions of our own: the reference, or a mistake.

    The inputs are cloned first. An exception is evidence, as it is in the sandbox.
    """
    arguments = {}
    for name in parameters(probe):
        if name not in inputs and name not in namespace:  # what a training cell would have left behind
            message = f"name '{name}' is not defined"
            return Evidence(key=key, status=Status.RAISED, error="NameError", message=message)
        arguments[name] = _clone(inputs[name]) if name in inputs else namespace[name]
    try:
        with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
            warnings.simplefilter("ignore")
            torch.default_generator.manual_seed(0)
            if torch.cuda.is_initialized():  # torch.manual_seed would note a traceback for later if it is not
                torch.cuda.manual_seed_all(0)
            return Evidence(key=key, status=Status.OK, values=probe(**arguments))
    except Exception as error:
        lineage = tuple(base.__name__ for base in type(error).__mro__)
        return Evidence(
            key=key, status=Status.RAISED, error=type(error).__name__, lineage=lineage, message=str(error)
        )


def _clone(value: Value) -> Value:
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, Mapping):
        return {name: _clone(inner) for name, inner in value.items()}
    return [_clone(inner) for inner in value] if isinstance(value, (list, tuple)) else value


class Ours:
    """What our own definitions return on the trials of one plan: the reference and the mistakes, each run once."""

    def __init__(self, lesson: Lesson) -> None:
        self._lesson = lesson
        self._known: dict[tuple[str, str], Evidence] = {}

    def right(self, one: Planned) -> Evidence:
        """What the reference returns."""
        return self._run(one, "", {})

    def wrong(self, one: Planned, mistake: Mistake) -> Evidence:
        """What an answer with this mistake returns."""
        return self._run(one, mistake.name, mistake.replaces)

    def _run(self, one: Planned, name: str, replaces: Mapping[str, object]) -> Evidence:
        if (one.key, name) not in self._known:
            namespace = {**self._lesson.reference, **replaces}
            self._known[one.key, name] = run_here(one.check.probe, namespace, one.inputs, one.key)
        return self._known[one.key, name]


def judge(
    lesson: Lesson,
    exercise: Exercise,
    planned: Sequence[Planned],
    evidence: Mapping[str, Evidence],
    device: str = "cpu",
    ours: Ours | None = None,
) -> Verdict:
    """The verdict on one exercise.

    Args:
        planned: the trials of this exercise.
        evidence: what came back, by key; a trial without evidence counts as missing.
        device: where it was computed.
        ours: kept from an earlier call for the same plan, so that nothing is computed twice.
    """
    ours = ours or Ours(lesson)
    findings = {one.key: _find(one, _evidence(one, evidence), ours, device) for one in planned}
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
        recognised = recognise(exercise, tried, evidence, ours)
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
        heatmaps=tuple(_heatmaps(planned, evidence, ours)),
    )


def recognise(
    exercise: Exercise, failing: Sequence[Planned], evidence: Mapping[str, Evidence], ours: Ours
) -> Mistake | None:
    """The mistake that returns what the student's answer returned, on every trial of the failing check.

    Where several do, the first declared is named: they agree on all that was seen.
    """
    for candidate in exercise.mistakes:
        if all(
            _same(_evidence(one, evidence), ours.wrong(one, candidate), one.check.rtol) for one in failing
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


def _evidence(one: Planned, evidence: Mapping[str, Evidence]) -> Evidence:
    missing = Evidence(
        key=one.key, status=Status.RAISED, error="NameError", message=f"{one.exercise.name} is not defined"
    )
    return evidence.get(one.key, missing)


def _find(one: Planned, got: Evidence, ours: Ours, device: str) -> tuple[Outcome, str]:
    """The outcome of one trial, and what to say about it."""
    if got.status is Status.OK:

        def expected() -> Mapping[str, Value]:
            right = ours.right(one)
            if right.status is not Status.OK:
                raise RuntimeError(f"{one.key}: the reference raised {right.error}: {right.message}")
            return right.values

        case = Case(inputs=one.inputs, got=got.values, expected=expected, rtol=one.check.rtol, device=device)
        try:
            finding: Finding = (one.check.judge or equals_reference)(case)
        except Exception as error:  # whatever it is, it is ours: it must not cost the student anything
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
    check: Check, mine: Sequence[Planned], findings: Mapping[str, tuple[Outcome, str]], earns: bool
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


def _heatmaps(planned: Sequence[Planned], evidence: Mapping[str, Evidence], ours: Ours):
    """The attention maps of public examples, ours beside theirs; only where the shapes agree."""
    for one in planned:
        got = _evidence(one, evidence)
        if not (one.public and one.check.map and got.status is Status.OK):
            continue
        theirs, right = got.values.get(one.check.map), ours.right(one).values.get(one.check.map)
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
