"""Explain why an exercise failed, and add the explanation to its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from grader.declare.exercise import Exercise
from grader.explain.candidates import candidates
from grader.explain.code.read_code import searchable
from grader.explain.explain import explain
from grader.explain.repairs.find_repair import Try
from grader.explain.seen import Explanation, Seen
from grader.explain.values.wording import in_words_of
from grader.judge.compare import flatten
from grader.judge.planned_trial import PlannedTrial
from grader.judge.raised import NO_CELLS, NotebookCells, excerpt, line_of
from grader.judge.reference_results import ReferenceResults
from grader.judge.verdicts import Tried, was_called
from grader.records import Outcome, Status, Verdict
from grader.submission.cells import answer_cell


@dataclass(frozen=True)
class WrongAnswer:
    """Everything that is known about a wrong answer: the input of `explain`."""

    exercise: Exercise
    trials: Sequence[PlannedTrial]  # on which the answer was called
    seen: Sequence[Seen]  # one for each trial
    results: ReferenceResults
    source: str

    def explain(self, try_: Try | None) -> Explanation | None:
        """Return an explanation of the wrong answer, or None if no explanation is found.

        If nothing else names the line or the cause, look for a small change that makes the answer right.

        Args:
            try_: runs changed answers on `trials`; None if the interpreter has ended.
        """
        return explain(
            self.seen,
            list(candidates(self.exercise, self.trials, self.results)),
            self.source,
            try_,
            self.exercise.defaults,
            several=len(self.exercise.defines) > 1,
        )


def diagnose(verdict: Verdict, wrong: WrongAnswer | None, try_: Try | None = None) -> Verdict:
    """Return a verdict with an explanation. The outcome and the points do not change.

    Args:
        wrong: the answer that the verdict is about; None if it was not called or is right.
        try_: runs changed answers on the trials of `wrong`; None if no change should be tried.
    """
    if wrong is None:
        return verdict
    words = partial(in_words_of, {check.probe.__name__ for check in wrong.exercise.checks})
    checks = tuple(replace(check, message=words(check.message)) for check in verdict.checks)
    verdict = replace(verdict, message=words(verdict.message), checks=checks)
    found = wrong.explain(try_)
    if found is None:
        return verdict
    mistake = found.name if found.kind == "mistake" else None
    shown = verdict.excerpt or (excerpt(wrong.source, found.line) if found.line else "")
    return replace(verdict, mistake=mistake, hint=words(found.says), diagnosis=found.kind, excerpt=shown)


def wrong_answer(
    exercise: Exercise,
    verdict: Verdict,
    tried: Sequence[Tried],
    results: ReferenceResults,
    cells: NotebookCells = NO_CELLS,
) -> WrongAnswer | None:
    """Collect everything that is known about a wrong answer.

    Return None if the answer is right, or was not called in its first failed check.

    Args:
        tried: the trials of this exercise, with their results.
        results: the results of the reference and of declared mistakes.
        cells: the cells of the notebook that ran, for messages that name a line.
    """
    failing = next((check for check in verdict.checks if check.outcome is not Outcome.PASSED), None)
    if failing is None or failing.outcome is not Outcome.FAILED or verdict.outcome is Outcome.FAULT:
        return None
    called = [one for one in tried if was_called(one.trial, one.got)]
    seen = [_seen(one, results, cells) for one in called]
    if not any(trial.check == failing.name and not trial.passed for trial in seen):
        return None
    source = searchable(cells.sources.get(answer_cell(exercise.id), ""))
    return WrongAnswer(exercise, [one.trial for one in called], seen, results, source)


def _seen(tried: Tried, results: ReferenceResults, cells: NotebookCells) -> Seen:
    """Return the record of one trial: the answer's values, the expected values, and the line of an exception."""
    trial, got, found = tried
    came = got.status is Status.OK
    return Seen(
        check=trial.check.name,
        passed=found.outcome is Outcome.PASSED,
        got=dict(flatten(got.values)) if came else {},
        expected=dict(flatten(results.right(trial).values)),
        inputs=dict(flatten(trial.inputs)),
        sizes=trial.trial.sizes,
        error="" if came else got.error or got.status.value,
        message=got.message,
        line=line_of(cells.sources.get(got.place.cell, ""), got.place.line) or "",
        shapes=dict(got.place.shapes),
    )
