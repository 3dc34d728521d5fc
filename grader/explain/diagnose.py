"""Explain the verdict of an exercise that failed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from grader.declare.exercise import Exercise
from grader.explain.candidates import candidates
from grader.explain.code.read_code import searchable
from grader.explain.explain import add_repair, explain_as_it_is, says_enough
from grader.explain.match import is_telling
from grader.explain.repairs.find_repair import Search, find_repair
from grader.explain.repairs.repairs import Repair
from grader.explain.seen import Explanation, Seen
from grader.explain.values.wording import in_words_of
from grader.judge.compare import flatten
from grader.judge.excerpt import excerpt, line_of
from grader.judge.planned_trial import PlannedTrial
from grader.judge.raised import NO_CELLS, NotebookCells
from grader.judge.reference_results import ReferenceResults
from grader.judge.verdicts import judge_trial, was_called
from grader.records import Evidence, Outcome, Status, Verdict
from grader.submission.cells import answer_cell


@dataclass(frozen=True)
class WrongAnswer:
    """What is known of a wrong answer: the input of `explain`."""

    exercise: Exercise
    trials: Sequence[PlannedTrial]  # on which the answer was called
    seen: Sequence[Seen]  # one for each trial
    results: ReferenceResults
    source: str
    failed: str  # name of the first check that failed

    @cached_property
    def as_it_is(self) -> Explanation | None:
        """What explains it without changes of the answer."""
        known = list(candidates(self.exercise, self.trials, self.results))
        return explain_as_it_is(self.seen, known, self.source)

    def needs_repair(self) -> bool:
        """Tell whether to look for a small change that makes the answer right: nothing else names the line or the cause."""
        return not says_enough(self.as_it_is)

    def explain(self, repair: Repair | None) -> Explanation | None:
        """Explain what is wrong, with the small change that makes the answer right; None if nothing does."""
        return add_repair(self.as_it_is, repair, self.seen, self.source) if self.needs_repair() else self.as_it_is

    def find_repair(self) -> Search:
        """Search for the small change that makes the answer right."""
        passed = [trial.passed for trial in self.seen]
        return find_repair(
            self.source, [t.check for t in self.seen], passed, self.failed, telling=is_telling(self.seen, self.failed)
        )


def diagnose(verdict: Verdict, wrong: WrongAnswer | None, repair: Repair | None = None) -> Verdict:
    """Add to a verdict what explains it; the outcome and the points stay as they are.

    Args:
        wrong: the answer that the verdict is on; None if it was not called, or is right.
        repair: the small change that makes the answer right, where one was looked for and found.
    """
    if wrong is None:
        return verdict
    words = partial(in_words_of, {check.probe.__name__ for check in wrong.exercise.checks})
    checks = tuple(replace(check, message=words(check.message)) for check in verdict.checks)
    verdict = replace(verdict, message=words(verdict.message), checks=checks)
    found = wrong.explain(repair)
    if found is None:
        return verdict
    mistake = found.name if found.kind == "mistake" else None
    shown = verdict.excerpt or (excerpt(wrong.source, found.line) if found.line else "")
    return replace(verdict, mistake=mistake, hint=words(found.says), diagnosis=found.kind, excerpt=shown)


def wrong_answer(
    exercise: Exercise,
    verdict: Verdict,
    planned: Sequence[PlannedTrial],
    evidence: Mapping[str, Evidence],
    results: ReferenceResults,
    device: str = "cpu",
    cells: NotebookCells = NO_CELLS,
) -> WrongAnswer | None:
    """Put together what is known of an answer; None if it is right, or was not called in its first failed check.

    Args:
        planned: the trials of this exercise.
        evidence: what came back from the sandbox, by the trial's key.
        results: what the reference and wrong answers return.
        device: where the evidence was computed.
        cells: the cells of the notebook that ran, for messages that name a line.
    """
    failing = next((check for check in verdict.checks if check.outcome is not Outcome.PASSED), None)
    if failing is None or failing.outcome is not Outcome.FAILED or verdict.outcome is Outcome.FAULT:
        return None
    called = [trial for trial in planned if trial.key in evidence and was_called(trial, evidence[trial.key])]
    seen = [_seen(trial, evidence[trial.key], results, device, cells) for trial in called]
    if not any(trial.check == failing.name and not trial.passed for trial in seen):
        return None
    source = searchable(cells.sources.get(answer_cell(exercise.id), ""))
    return WrongAnswer(exercise, called, seen, results, source, failing.name)


def _seen(trial: PlannedTrial, got: Evidence, results: ReferenceResults, device: str, cells: NotebookCells) -> Seen:
    """Make the record of what one trial showed: what came, what is expected, and where it raised."""
    right = results.right(trial)
    came = got.status is Status.OK
    return Seen(
        check=trial.check.name,
        passed=judge_trial(trial, got, results, device, cells).outcome is Outcome.PASSED,
        got=dict(flatten(got.values)) if came else {},
        expected=dict(flatten(right.values)),
        inputs=dict(flatten(trial.inputs)),
        sizes=trial.trial.sizes,
        error="" if came else got.error or got.status.value,
        message=got.message,
        line=line_of(cells.sources.get(got.place.cell, ""), got.place.line) or "",
        shapes=dict(got.place.shapes),
    )
