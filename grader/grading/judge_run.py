"""Judge the exercises of one run of a notebook: what is complete while it runs, and the rest after its last cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import is_

from nbformat import NotebookNode

from grader.checks.judge import judge
from grader.checks.planned_trial import PlannedTrial
from grader.checks.raised import NotebookCells
from grader.checks.reference_results import ReferenceResults
from grader.declaration.exercise import Exercise
from grader.declaration.lesson import Lesson
from grader.diagnosis.diagnose import diagnose, wrong_answer
from grader.diagnosis.repairs.repairs import Repair
from grader.execution.engine import Execution
from grader.grading.shortened import not_run
from grader.grading.try_repairs import repair_requests
from grader.grading.undefined import cells_that_ran, where_it_stopped
from grader.records import CellResult, Evidence, Outcome, Request, Verdict
from grader.submission.rebuild import Rebuilt

Tell = Callable[[Verdict], None]


def tell_nobody(verdict: Verdict) -> None:
    """Do nothing with a verdict."""


@dataclass(frozen=True, kw_only=True)
class _Judged:
    """A verdict, and the evidence that it was made of: it holds as long as no other came back."""

    verdict: Verdict
    evidence: tuple[Evidence | None, ...]


@dataclass(kw_only=True)
class RunJudge:
    """Judges each exercise of a run once, as early as its evidence allows.

    Args:
        notebook: that runs.
        trials: of the exercises to judge, by id.
        device: where the notebook runs, unless it is moved.
        tell: gets each verdict as soon as it is known, without an explanation yet.
    """

    lesson: Lesson
    rebuilt: Rebuilt
    notebook: NotebookNode
    trials: Mapping[str, Sequence[PlannedTrial]]
    reference_results: ReferenceResults
    device: str
    tell: Tell = tell_nobody
    # Exercise id → the error of ours that left its verdict without an explanation.
    unexplained: dict[str, str] = field(default_factory=dict)
    _judged: dict[str, _Judged] = field(default_factory=dict)
    _repairs: dict[str, Repair | None] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)  # exercises that were judged before the last cell

    def arrived(self, results: Mapping[str, CellResult], evidence: Mapping[str, Evidence]) -> None:
        """Judge the exercises of which everything came back, if somebody waits for it.

        One that fails is judged again after the last cell: what explains it may stand further down.
        """
        if self.tell is tell_nobody:
            return
        for id, planned in self.trials.items():
            if id not in self._seen and all(trial.key in evidence for trial in planned):
                self._seen.add(id)
                verdict = judge(planned[0].exercise, planned, evidence, self.reference_results, self.device)
                if verdict.outcome is Outcome.PASSED:
                    self._keep(verdict, evidence)

    def try_repairs(
        self, results: Mapping[str, CellResult], evidence: Mapping[str, Evidence]
    ) -> Iterator[Request]:
        """Judge the exercises, and yield requests that try small changes of the answers that nothing else explains."""
        cells = cells_that_ran(self.lesson, self.rebuilt, self.notebook, results)
        for id, planned in self.trials.items():
            exercise = planned[0].exercise
            found = planned, evidence, self.reference_results, self.device, cells
            try:
                verdict = self._verdict(exercise, evidence, self.device, cells)
                wrong = wrong_answer(exercise, verdict, *found)
                if wrong is not None and wrong.needs_repair():
                    search = wrong.find_repair()
                    self._repairs[id] = yield from repair_requests(
                        search, wrong.trials, self.reference_results, evidence, self.device
                    )
            except Exception as error:  # as in `explained`
                self.unexplained[id] = f"{type(error).__name__}: {error}"

    def verdicts(self, execution: Execution) -> dict[str, Verdict]:
        """Return the verdict on each exercise, explained."""
        cells = cells_that_ran(self.lesson, self.rebuilt, execution.notebook, execution.cells)
        return {
            id: self._explained(planned[0].exercise, execution, cells) for id, planned in self.trials.items()
        }

    def _verdict(
        self, exercise: Exercise, evidence: Mapping[str, Evidence], device: str, cells: NotebookCells
    ) -> Verdict:
        """Judge an exercise, unless that was done with the same evidence."""
        known = self._judged.get(exercise.id)
        if known is None or not all(map(is_, known.evidence, self._evidence(exercise.id, evidence))):
            planned = self.trials[exercise.id]
            return self._keep(
                judge(exercise, planned, evidence, self.reference_results, device, cells), evidence
            )
        return known.verdict

    def _keep(self, verdict: Verdict, evidence: Mapping[str, Evidence]) -> Verdict:
        """Keep a verdict, and tell it."""
        self._judged[verdict.id] = _Judged(verdict=verdict, evidence=self._evidence(verdict.id, evidence))
        self.tell(verdict)
        return verdict

    def _evidence(self, id: str, evidence: Mapping[str, Evidence]) -> tuple[Evidence | None, ...]:
        """Return what came back on each trial of an exercise; None where nothing did."""
        return tuple(evidence.get(trial.key) for trial in self.trials[id])

    def _explained(self, exercise: Exercise, execution: Execution, cells: NotebookCells) -> Verdict:
        """Return the verdict on one exercise with what explains it, and with the notes about it."""
        planned, evidence = self.trials[exercise.id], execution.evidence
        verdict = self._verdict(exercise, evidence, execution.device, cells)
        try:
            found = planned, evidence, self.reference_results, execution.device, cells
            wrong = wrong_answer(exercise, verdict, *found)
            verdict = diagnose(verdict, wrong, lambda: self._repairs.get(exercise.id))
        except Exception as error:  # an explanation decides nothing: without one, the verdict is what it is
            self.unexplained[exercise.id] = f"{type(error).__name__}: {error}"
        if exercise.id not in self.rebuilt.answers:
            verdict = replace(verdict, message="there is no cell for this exercise")
        notes = (*self.rebuilt.notes.get(exercise.id, ()), *not_run(self.lesson, exercise))
        return replace(verdict, notes=(*verdict.notes, *notes, *where_it_stopped(exercise, verdict, cells)))
