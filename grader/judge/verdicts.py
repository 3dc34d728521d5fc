"""Judge the evidence of an exercise: which checks passed, how many points it earns, and what is wrong.

A check that fails only because of one minor error (called a slip in the code) keeps half of its points. A
minor error can be corrected by one change. There are three kinds: the two results are in the wrong
order, right numbers have another dtype, or a declaration marks the mistake as a slip. The error is the
only one if, on every failing trial of the check, the answer returns what the right answer with this one
error returns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial, wraps
from typing import Any, NamedTuple

import torch
from torch import Tensor

from grader.declare.exercise import Check, Exercise, Mistake
from grader.declare.probes import WrongForm
from grader.judge.compare import compare, equals_reference, flatten
from grader.judge.planned_trial import PlannedTrial
from grader.judge.raised import MAX_MESSAGE, NO_CELLS, NotebookCells, raised, why_undefined
from grader.judge.reference_results import ReferenceResults
from grader.records import Case, CheckResult, Evidence, Finding, Heatmap, Outcome, Status, Verdict
from grader.sandbox.text import one_line
from grader.submission.cells import answer_cell, is_stubs_own

SLIP_KEEPS = 0.5  # the share of a check's points
SLIP_NOTE = "This is a minor error: a check that fails only because of it keeps half of its points."


def is_slip(
    exercise: Exercise,
    failing: Sequence[tuple[PlannedTrial, Evidence]],
    reference_results: ReferenceResults,
    device: str = "cpu",
) -> bool:
    """Return True if one minor error explains the results of all failing trials of a check."""
    if any(trial.check.judge is not None for trial, _ in failing):
        return False  # what such a check passes is no single result, so none can be told from another
    if all(_of_another_dtype(trial, got, reference_results, device) for trial, got in failing):
        return True
    slips = [*(one for one in exercise.mistakes if one.slip), *_turned_around(exercise.reference)]
    return any(all(_gives(slip, trial, got, reference_results) for trial, got in failing) for slip in slips)


def _gives(slip: Mistake, trial: PlannedTrial, got: Evidence, reference_results: ReferenceResults) -> bool:
    """Return True if the slip explains a trial's result.

    The right answer with this slip must return the trial's result, and the right answer itself must not.
    """
    wrong, right = reference_results.wrong(trial, slip), reference_results.right(trial)
    return same(got, wrong, trial) and not same(wrong, right, trial)


def same(got: Evidence, wrong: Evidence, trial: PlannedTrial) -> bool:
    """Return True if an answer and a mistake returned the same result or raised the same exception.

    Values are treated as the same if they differ by at most ten times the tolerance.
    """
    if got.status is Status.RAISED:
        # Compare the text, too: exceptions of one class have many causes, but a text that names the same
        # shapes has one.
        return wrong.status is Status.RAISED and (got.error, got.message) == (wrong.error, wrong.message)
    if got.status is not Status.OK or wrong.status is not Status.OK:
        return False
    return compare(got.values, wrong.values, rtol=trial.check.rtol * 10).passed


def _of_another_dtype(trial: PlannedTrial, got: Evidence, reference_results: ReferenceResults, device: str) -> bool:
    """Return True if an answer's values are right except for their dtypes.

    At least one tensor has another dtype than expected, and all values are right after conversion.
    """
    right = reference_results.right(trial)
    if got.status is not Status.OK or right.status is not Status.OK:
        return False
    values, wanted = dict(flatten(got.values)), dict(flatten(right.values))
    pairs = [(value, wanted.get(name)) for name, value in values.items()]
    if not any(isinstance(came, Tensor) and isinstance(due, Tensor) and came.dtype != due.dtype for came, due in pairs):
        return False
    # Where float32 and float64 meet, all is as exact as float32, gradients too.
    values = {name: _in_float32(_like(value, wanted.get(name))) for name, value in values.items()}
    wanted = {name: _in_float32(value) for name, value in wanted.items()}
    return compare(values, wanted, rtol=trial.check.rtol, device=device).passed


def _in_float32(value: Any) -> Any:
    """Return a float64 tensor as float32, and any other value as it is."""
    return value.float() if isinstance(value, Tensor) and value.dtype == torch.float64 else value


def _like(got: Any, want: Any) -> Any:
    """Convert a tensor to the expected integer or bool dtype, if the conversion changes no number.

    Return any other value unchanged.
    """
    if not isinstance(got, Tensor) or not isinstance(want, Tensor):
        return got
    if want.is_floating_point() or got.dtype == want.dtype:
        return got
    made = got.to(want.dtype)
    return made if torch.equal(made.to(got.dtype), got) else got


@lru_cache(maxsize=256)
def _turned_around(reference: tuple[Any, ...]) -> tuple[Mistake, ...]:
    """Return a mistake for each function or class in a reference: it returns its two results in the opposite order."""
    return tuple(
        Mistake(f"results of {right.__name__} turned around", {right.__name__: wrong}, "", slip=True)
        for right in reference
        for wrong in (_layer_turned_around(right) if isinstance(right, type) else _call_turned_around(right),)
    )


def _call_turned_around(right: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that it returns a pair in the opposite order, and any other value unchanged."""

    @wraps(right)
    def call(*args: Any, **options: Any) -> Any:
        returned = right(*args, **options)
        return returned[::-1] if isinstance(returned, (tuple, list)) and len(returned) == 2 else returned

    return call


def _layer_turned_around(right: Any) -> type:
    """Return a subclass of a layer class whose `forward` returns its two results in the opposite order."""
    return type(right.__name__, (right,), {"forward": _call_turned_around(right.forward)})


@dataclass(frozen=True)
class Judged:
    """The judgement of one trial."""

    outcome: Outcome
    message: str = ""
    excerpt: str = ""  # lines of the student's code that the message is about
    # Whether the message is about the answer as a whole and holds for every input: the answer was not even called.
    general: bool = False


class Tried(NamedTuple):
    """A trial, its results from the sandbox, and their judgement."""

    trial: PlannedTrial
    got: Evidence
    found: Judged


def judge_trials(
    planned: Sequence[PlannedTrial],
    evidence: Mapping[str, Evidence],
    reference_results: ReferenceResults,
    device: str = "cpu",
    cells: NotebookCells = NO_CELLS,
) -> tuple[Tried, ...]:
    """Judge each trial of an exercise.

    Args:
        planned: the trials.
        evidence: the sandbox's results, by the trial's key. A trial without evidence is judged as missing.
        reference_results: the reference's results. All exercises of a submission share this object, so that each
            result is computed only once.
        device: the device on which the evidence was computed.
        cells: the cells of the notebook that ran, for messages that name a line.
    """
    pairs = [(trial, evidence.get(trial.key, _never_came(trial))) for trial in planned]
    return tuple(Tried(trial, got, judge_trial(trial, got, reference_results, device, cells)) for trial, got in pairs)


def judge(
    exercise: Exercise,
    planned: Sequence[PlannedTrial],
    evidence: Mapping[str, Evidence],
    reference_results: ReferenceResults,
    device: str = "cpu",
) -> Verdict:
    """Judge the trials of an exercise and return the verdict on it. The arguments are those of `judge_trials`."""
    return verdict_of(exercise, judge_trials(planned, evidence, reference_results, device), reference_results, device)


def verdict_of(
    exercise: Exercise, tried: Sequence[Tried], reference_results: ReferenceResults, device: str = "cpu"
) -> Verdict:
    """Return the verdict on an exercise whose trials are all judged.

    Args:
        device: the device on which the trials ran.
    """
    results = _judge_checks(exercise, tried, reference_results, device)
    points = sum(result.points for result in results)
    failing = next((result for result in results if result.outcome is not Outcome.PASSED), None)
    worst = _worst([one for one in tried if failing and one.trial.check.name == failing.name])
    # Where the answer's cell did not define what is asked for, reading the lesson again would not help.
    ran = not (worst and worst.found.general and worst.found.outcome is Outcome.FAILED)
    return Verdict(
        id=exercise.id,
        name=exercise.name,
        title=exercise.title,
        outcome=_outcome(results, points),
        points=points,
        max_points=exercise.points,
        message=failing.message if failing else "",
        excerpt=worst.found.excerpt if worst else "",
        review=exercise.review if failing and ran else "",
        checks=tuple(results),
        heatmaps=tuple(_heatmaps(tried, reference_results)),
        notes=(SLIP_NOTE,) if any(one.points and one.outcome is not Outcome.PASSED for one in results) else (),
    )


def _judge_checks(
    exercise: Exercise, tried: Sequence[Tried], reference_results: ReferenceResults, device: str
) -> list[CheckResult]:
    """Return the result of each check, with its points.

    A check earns points only if all checks that it needs earned points.
    """
    earned: set[str] = set()
    results = []
    for check in exercise.checks:
        of_check = [one for one in tried if one.trial.check is check]
        result = _judge_check(check, of_check)
        share = 1.0 if result.outcome is Outcome.PASSED else 0.0
        failing = [one for one in of_check if one.found.outcome is not Outcome.PASSED]
        if failing and all(one.found.outcome is Outcome.FAILED for one in failing):
            share = SLIP_KEEPS if is_slip(exercise, [one[:2] for one in failing], reference_results, device) else 0.0
        if share and set(check.needs) <= earned:
            earned.add(check.name)
            result = replace(result, points=share * check.points)
        results.append(result)
    return results


def _outcome(results: Sequence[CheckResult], points: float) -> Outcome:
    """Return the outcome of an exercise, computed from the outcomes of its checks.

    Returns:
        FAULT if a check has this outcome; FAILED if the exercise has some points, but not all of them;
        otherwise the first outcome other than PASSED, or PASSED if there is no other.
    """
    outcomes = [result.outcome for result in results]
    if Outcome.FAULT in outcomes:
        return Outcome.FAULT
    outcome = next((outcome for outcome in outcomes if outcome is not Outcome.PASSED), Outcome.PASSED)
    return Outcome.FAILED if outcome is not Outcome.PASSED and points > 0 else outcome


def _never_came(trial: PlannedTrial) -> Evidence:
    """Return placeholder evidence for a trial without evidence, as if the answer's name were undefined."""
    return Evidence(key=trial.key, status=Status.RAISED, error="NameError", message=_not_defined(trial))


def _not_defined(trial: PlannedTrial) -> str:
    """Return the message that the name which the exercise asks for is not defined."""
    return f"{trial.exercise.name} is not defined"


def judge_trial(
    trial: PlannedTrial,
    got: Evidence,
    reference_results: ReferenceResults,
    device: str = "cpu",
    cells: NotebookCells = NO_CELLS,
) -> Judged:
    """Judge the evidence of one trial: the values that the answer returned, its exception, a time-out or a crash."""
    if got.status is Status.OK:
        return _judge_values(trial, got, reference_results, device)
    if got.status is Status.RAISED:
        return _judge_exception(trial, got, reference_results, cells)
    if got.status is Status.TIMEOUT:
        return Judged(Outcome.TIMEOUT, got.message or "it did not answer in time")
    if got.status is Status.FAULT:
        return Judged(Outcome.FAULT, got.message)
    return Judged(Outcome.FAILED, got.message or "the interpreter ended while it ran")


def _judge_exception(
    trial: PlannedTrial, got: Evidence, reference_results: ReferenceResults, cells: NotebookCells
) -> Judged:
    """Judge a trial in which an exception was raised.

    Returns:
        MISSING if there is no answer; FAULT if the reference raises an exception, too; TIMEOUT if the answer's cell
        timed out; otherwise FAILED, with the line that raised the exception.
    """
    if is_stubs_own(got.error, got.message):
        return Judged(Outcome.MISSING, "not solved yet", general=True)
    cell = answer_cell(trial.exercise.id)
    # Where a line of the student's is known, the answer ran, and another name was missing.
    if got.error == "NameError" and not got.place.cell:
        if missing := [name for name in sorted(trial.takes) if f"'{name}'" in got.message]:
            asked = bool(set(missing) & set(trial.exercise.defines))
            if why := why_undefined(missing, cell, cells):
                message, known = why
                outcome = known.outcome if asked else Outcome.FAILED
                return Judged(outcome, message, known.excerpt, general=True)
            if asked:
                return Judged(Outcome.MISSING, _not_defined(trial), general=True)
        elif got.message == _not_defined(trial):
            return Judged(Outcome.MISSING, got.message, general=True)
    if trial.check.judge is None:  # else the reference may lack what the probe takes: a trained model
        right = reference_results.right(trial)
        if right.status is not Status.OK:
            return Judged(Outcome.FAULT, f"the reference raised {right.error}: {right.message}")
    if got.error == WrongForm.__name__ and not got.place.cell:
        return Judged(Outcome.FAILED, one_line(got.message, MAX_MESSAGE))
    words = raised(got, cell, cells)
    return Judged(Outcome.FAILED, words.in_a_call, words.excerpt)


def was_called(trial: PlannedTrial, got: Evidence) -> bool:
    """Return True if the answer itself ran.

    The answer did not run if it is still the stub, or if a name that the probe takes is not defined.
    """
    if got.status is not Status.RAISED:
        return got.status is Status.OK
    if is_stubs_own(got.error, got.message):
        return False
    undefined = got.error == "NameError" and not got.place.cell
    never_came = got.message == _not_defined(trial)
    return not undefined or not (never_came or any(f"'{name}'" in got.message for name in trial.takes))


def _judge_values(trial: PlannedTrial, got: Evidence, reference_results: ReferenceResults, device: str) -> Judged:
    """Judge the values that an answer returned, with the check's own judge or else with `equals_reference`."""
    check = trial.check
    expected = partial(reference_results.expected, trial)
    case = Case(inputs=trial.inputs, got=got.values, expected=expected, rtol=check.rtol, device=device)
    try:
        finding: Finding = (check.judge or equals_reference)(case)
    # Any error here is a fault of the grader: it must not cost the student anything.
    except Exception as error:
        return Judged(Outcome.FAULT, f"the grader could not judge this ({type(error).__name__}: {error})")
    return Judged(Outcome.PASSED) if finding.passed else Judged(Outcome.FAILED, finding.message)


def _worst(tried: Sequence[Tried]) -> Tried | None:
    """Return the trial that decides the outcome of a check, or None if all trials passed.

    It is the first trial with the outcome FAULT, or else the first one that did not pass.
    """
    failed = [one for one in tried if one.found.outcome is not Outcome.PASSED]
    faults = [one for one in failed if one.found.outcome is Outcome.FAULT]
    return next(iter(faults or failed), None)


def _judge_check(check: Check, tried: Sequence[Tried]) -> CheckResult:
    """Return the result of one check over all its trials. Its points are 0 until `_judge_checks` sets them."""
    worst = _worst(tried)
    found = worst.found if worst else Judged(Outcome.PASSED)
    if not tried:  # nothing was asked, so nothing was shown
        found = Judged(Outcome.FAULT, f"no trial of the check {check.name!r} was drawn")
    return CheckResult(
        name=check.name,
        title=check.title,
        outcome=found.outcome,
        points=0.0,
        max_points=check.points,
        message=f"{worst.trial.trial.describe}: {found.message}" if worst and not found.general else found.message,
        trials=len(tried),
        seconds=round(sum(one.got.seconds for one in tried), 4),
    )


def _heatmaps(tried: Sequence[Tried], reference_results: ReferenceResults) -> Iterator[Heatmap]:
    """Yield the attention maps of public trials, each with the reference's map, if both have the same shape."""
    for trial, got, _ in tried:
        name = trial.check.map
        if not (trial.public and name and got.status is Status.OK):
            continue
        weights, right = got.values.get(name), reference_results.right(trial).values.get(name)
        if not isinstance(weights, Tensor) or not isinstance(right, Tensor):
            continue
        if weights.shape == right.shape and right.ndim >= 2:
            yield Heatmap(title=trial.trial.describe, got=_rows(weights), expected=_rows(right))


def _rows(weights: Tensor) -> tuple[tuple[float, ...], ...]:
    """Return the rows of the first matrix in a batch of attention weights."""
    matrix = weights.detach().double().reshape(-1, *weights.shape[-2:])[0]
    return tuple(tuple(row) for row in matrix.tolist())
