"""Judge the evidence of an exercise: which checks passed, how many points it earns, what is off."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from torch import Tensor

from grader.declare.exercise import Check, Exercise
from grader.declare.probes import WrongForm
from grader.judge.compare import equals_reference
from grader.judge.planned_trial import PlannedTrial
from grader.judge.raised import MAX_MESSAGE, NO_CELLS, NotebookCells, raised, why_undefined
from grader.judge.reference_results import ReferenceResults
from grader.judge.slips import KEEPS, NOTE, is_slip
from grader.records import Case, CheckResult, Evidence, Finding, Heatmap, Outcome, Status, Verdict
from grader.sandbox.text import one_line
from grader.submission.cells import answer_cell, is_stubs_own


@dataclass(frozen=True)
class Judged:
    """How one trial was judged."""

    outcome: Outcome
    message: str = ""
    excerpt: str = ""  # lines of the student's code that the message is about
    # Whether the message is about the answer as a whole and holds for every input: the answer was not even called.
    general: bool = False


class Tried(NamedTuple):
    """A trial, what came back for it, and how that was judged."""

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
        evidence: what came back from the sandbox, by the trial's key; a trial without evidence counts as missing.
        reference_results: what the reference returns; all exercises of a submission share it, so that each result is
            computed once.
        device: where the evidence was computed.
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
    """Judge the trials of an exercise, and return the verdict on it; the arguments are those of `judge_trials`."""
    return verdict_of(exercise, judge_trials(planned, evidence, reference_results, device), reference_results, device)


def verdict_of(
    exercise: Exercise, tried: Sequence[Tried], reference_results: ReferenceResults, device: str = "cpu"
) -> Verdict:
    """Return the verdict on an exercise, of which all trials are judged; `device` is where they ran."""
    results = _judge_checks(exercise, tried, reference_results, device)
    points = sum(result.points for result in results)
    failing = next((result for result in results if result.outcome is not Outcome.PASSED), None)
    worst = _worst([one for one in tried if failing and one.trial.check.name == failing.name])
    return Verdict(
        id=exercise.id,
        name=exercise.name,
        title=exercise.title,
        outcome=_outcome(results, points),
        points=points,
        max_points=exercise.points,
        message=failing.message if failing else "",
        excerpt=worst.found.excerpt if worst else "",
        review=exercise.review if failing else "",
        checks=tuple(results),
        heatmaps=tuple(_heatmaps(tried, reference_results)),
        notes=(NOTE,) if any(one.points and one.outcome is not Outcome.PASSED for one in results) else (),
    )


def _judge_checks(
    exercise: Exercise, tried: Sequence[Tried], reference_results: ReferenceResults, device: str
) -> list[CheckResult]:
    """Return the result of each check. A check earns points only if all checks that it needs earned some."""
    earned: set[str] = set()
    results = []
    for check in exercise.checks:
        of_check = [one for one in tried if one.trial.check is check]
        result = _judge_check(check, of_check)
        share = 1.0 if result.outcome is Outcome.PASSED else 0.0
        failing = [one for one in of_check if one.found.outcome is not Outcome.PASSED]
        if failing and all(one.found.outcome is Outcome.FAILED for one in failing):
            share = KEEPS if is_slip(exercise, [one[:2] for one in failing], reference_results, device) else 0.0
        if share and set(check.needs) <= earned:
            earned.add(check.name)
            result = replace(result, points=share * check.points)
        results.append(result)
    return results


def _outcome(results: Sequence[CheckResult], points: float) -> Outcome:
    """Return FAULT if a check has it, FAILED if there are points but not all, else the first that is not PASSED, or PASSED."""
    outcomes = [result.outcome for result in results]
    if Outcome.FAULT in outcomes:
        return Outcome.FAULT
    outcome = next((outcome for outcome in outcomes if outcome is not Outcome.PASSED), Outcome.PASSED)
    return Outcome.FAILED if outcome is not Outcome.PASSED and points > 0 else outcome


def _never_came(trial: PlannedTrial) -> Evidence:
    """Return what stands for a trial without evidence: what an undefined name would give."""
    return Evidence(key=trial.key, status=Status.RAISED, error="NameError", message=_not_defined(trial))


def _not_defined(trial: PlannedTrial) -> str:
    """Return the message that the exercise's name is not defined."""
    return f"{trial.exercise.name} is not defined"


def judge_trial(
    trial: PlannedTrial,
    got: Evidence,
    reference_results: ReferenceResults,
    device: str = "cpu",
    cells: NotebookCells = NO_CELLS,
) -> Judged:
    """Judge what came back for one trial: its values, its exception, or that it did not end well."""
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
    """Judge a trial that raised: MISSING if there is no answer, FAULT if the reference raises, too, else FAILED, with the line."""
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
    """Tell whether the answer itself ran; it did not if it is not solved, or if a name that the probe takes is not defined."""
    if got.status is not Status.RAISED:
        return got.status is Status.OK
    if is_stubs_own(got.error, got.message):
        return False
    undefined = got.error == "NameError" and not got.place.cell
    never_came = got.message == _not_defined(trial)
    return not undefined or not (never_came or any(f"'{name}'" in got.message for name in trial.takes))


def _judge_values(trial: PlannedTrial, got: Evidence, reference_results: ReferenceResults, device: str) -> Judged:
    """Let the check's own judge, or else `equals_reference`, judge the returned values."""
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
    """Return the trial that decides about a check: the first that did not pass, a FAULT first; None if all passed."""
    failed = [one for one in tried if one.found.outcome is not Outcome.PASSED]
    faults = [one for one in failed if one.found.outcome is Outcome.FAULT]
    return next(iter(faults or failed), None)


def _judge_check(check: Check, tried: Sequence[Tried]) -> CheckResult:
    """Return the result of one check over all its trials, without points."""
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
    """Yield the attention maps of public trials beside the reference's, if the shapes agree."""
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
