"""Judge the evidence of an exercise: which checks passed, how many points it earns, what is off."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

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
    """The result of one trial."""

    outcome: Outcome
    message: str = ""
    excerpt: str = ""  # lines of the student's code that the message is about
    # Whether the message is about the answer as a whole and holds for every input: the answer was not even called.
    general: bool = False


def judge(
    exercise: Exercise,
    planned: Sequence[PlannedTrial],
    evidence: Mapping[str, Evidence],
    reference_results: ReferenceResults,
    device: str = "cpu",
    cells: NotebookCells = NO_CELLS,
) -> Verdict:
    """Judge one exercise.

    Args:
        planned: the trials of this exercise.
        evidence: what came back from the sandbox, by the trial's key; a trial without evidence counts as
            missing.
        reference_results: what the reference returns; all exercises of a submission share it, so that each
            result is computed once.
        device: where the evidence was computed.
        cells: the cells of the notebook that ran, for messages that name a line.
    """
    findings = {
        trial.key: judge_trial(trial, _evidence_of(trial, evidence), reference_results, device, cells)
        for trial in planned
    }
    slips = _slips(exercise, planned, findings, evidence, reference_results, device)
    results = _judge_checks(exercise, planned, findings, slips, evidence)
    points = sum(result.points for result in results)
    failing = next((result for result in results if result.outcome is not Outcome.PASSED), None)
    failing_trials = [trial for trial in planned if failing and trial.check.name == failing.name]
    return Verdict(
        id=exercise.id,
        name=exercise.name,
        title=exercise.title,
        outcome=_outcome(results, points),
        points=points,
        max_points=exercise.points,
        message=failing.message if failing else "",
        excerpt=_worst(failing_trials, findings)[1].excerpt,
        review=exercise.review if failing else "",
        checks=tuple(results),
        heatmaps=tuple(_heatmaps(planned, evidence, reference_results)),
        notes=(NOTE,) if any(result.points for result in results if result.name in slips) else (),
    )


def _slips(
    exercise: Exercise,
    planned: Sequence[PlannedTrial],
    findings: Mapping[str, Judged],
    evidence: Mapping[str, Evidence],
    reference_results: ReferenceResults,
    device: str,
) -> frozenset[str]:
    """Return the names of the checks that fail because of one slip alone."""
    failing: dict[str, list[tuple[PlannedTrial, Evidence]]] = {}
    for trial in planned:
        if findings[trial.key].outcome is not Outcome.PASSED:
            failing.setdefault(trial.check.name, []).append((trial, _evidence_of(trial, evidence)))
    return frozenset(
        name
        for name, trials in failing.items()
        if all(findings[trial.key].outcome is Outcome.FAILED for trial, _ in trials)
        and is_slip(exercise, trials, reference_results, device)
    )


def _judge_checks(
    exercise: Exercise,
    planned: Sequence[PlannedTrial],
    findings: Mapping[str, Judged],
    slips: Collection[str],
    evidence: Mapping[str, Evidence],
) -> list[CheckResult]:
    """Return the result of each check. A check earns points only if all checks that it needs earned some.

    Args:
        findings: the result of each trial, by the trial's key.
        slips: the names of the checks that fail because of one slip alone.
    """
    earned: set[str] = set()
    results = []
    for check in exercise.checks:
        trials = [trial for trial in planned if trial.check is check]
        seconds = sum(_evidence_of(trial, evidence).seconds for trial in trials)
        result = replace(_judge_check(check, trials, findings), seconds=round(seconds, 4))
        share = 1.0 if result.outcome is Outcome.PASSED else KEEPS if check.name in slips else 0.0
        if share and set(check.needs) <= earned:
            earned.add(check.name)
            result = replace(result, points=share * check.points)
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


def _evidence_of(trial: PlannedTrial, evidence: Mapping[str, Evidence]) -> Evidence:
    """Return the evidence for a trial; if none came back, the evidence that an undefined name would give."""
    missing = Evidence(key=trial.key, status=Status.RAISED, error="NameError", message=_never_came(trial))
    return evidence.get(trial.key, missing)


def _never_came(trial: PlannedTrial) -> str:
    """Return the message where a trial has no evidence."""
    return f"{trial.exercise.name} is not defined"


def judge_trial(
    trial: PlannedTrial,
    got: Evidence,
    reference_results: ReferenceResults,
    device: str = "cpu",
    cells: NotebookCells = NO_CELLS,
) -> Judged:
    """Judge one trial."""
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
    """Judge a trial that raised: say whether the answer is there, and else on which line of it what happened."""
    if _is_unsolved(got):
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
                return Judged(Outcome.MISSING, f"{trial.exercise.name} is not defined", general=True)
        elif got.message == _never_came(trial):
            return Judged(Outcome.MISSING, got.message, general=True)
    if (
        trial.check.judge is None
    ):  # with a judge of its own, the reference may lack what the probe takes: a trained model
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
    undefined = got.error == "NameError" and not got.place.cell
    return not _is_unsolved(got) and not (undefined and any(f"'{name}'" in got.message for name in trial.takes))


def _is_unsolved(got: Evidence) -> bool:
    """Tell whether the stub raised."""
    return is_stubs_own(got.error, got.message)


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


def _worst(trials: Sequence[PlannedTrial], findings: Mapping[str, Judged]) -> tuple[PlannedTrial | None, Judged]:
    """Return the trial that decides about a check, and its result: the first that did not pass, a FAULT first."""
    failed = [(trial, findings[trial.key]) for trial in trials if findings[trial.key].outcome is not Outcome.PASSED]
    faults = [entry for entry in failed if entry[1].outcome is Outcome.FAULT]
    return next(iter(faults or failed), (None, Judged(Outcome.PASSED)))


def _judge_check(check: Check, trials: Sequence[PlannedTrial], findings: Mapping[str, Judged]) -> CheckResult:
    """Return the result of one check over all its trials, without points.

    Args:
        findings: the result of each trial, by the trial's key.
    """
    trial, worst = _worst(trials, findings)
    if not trials:  # nothing was asked, so nothing was shown
        worst = Judged(Outcome.FAULT, f"no trial of the check {check.name!r} was drawn")
    message = worst.message if trial is None or worst.general else f"{trial.trial.describe}: {worst.message}"
    return CheckResult(
        name=check.name,
        title=check.title,
        outcome=worst.outcome,
        points=0.0,
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
