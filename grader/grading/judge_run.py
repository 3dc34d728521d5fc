"""Judge the exercises of one run of a notebook: what is complete while it runs, and the rest after its last cell."""

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from operator import is_

import nbformat
from nbformat import NotebookNode

from grader.declare.exercise import Exercise
from grader.declare.lesson import SHORT, Lesson
from grader.explain.diagnose import WrongAnswer, diagnose, wrong_answer
from grader.explain.exceptions.shadowed import not_installed, refused_call, shadowed
from grader.explain.repairs.repairs import Repair
from grader.grading.allowance import Allowance, TookTooLong
from grader.grading.try_repairs import repair_requests
from grader.grading.undefined import cells_that_ran, training_stopped, where_it_stopped
from grader.judge.built_ins import code_of
from grader.judge.planned_trial import PlannedTrial
from grader.judge.raised import NotebookCells
from grader.judge.reference_results import ReferenceResults
from grader.judge.verdicts import judge
from grader.records import CellResult, Evidence, Outcome, Request, Verdict
from grader.sandbox.engine import Execution
from grader.submission.rebuild import Rebuilt

NOTE = (
    f"[Shortened for grading: {SHORT} steps. The rest of this training was verified from secret states in its middle and near "
    "its end, and the trained model with trained weights. What cells below show of it is the state after these "
    f"{SHORT} steps.]\n"
)

Tell = Callable[[Verdict], None]

# Returns which exercises another run judges again. Arguments: the verdicts, and how the cells ended, by id.
JudgedAgain = Callable[[Mapping[str, Verdict], Mapping[str, CellResult]], frozenset[str]]


@dataclass(frozen=True, kw_only=True)
class _Judged:
    """A verdict, and the evidence that it was made of: it holds as long as no other came back."""

    verdict: Verdict
    evidence: tuple[Evidence | None, ...]
    wrong: Callable[[], WrongAnswer | None]  # put together when it is first asked for


@dataclass(kw_only=True)
class RunJudge:
    """Judges each exercise of a run once, as early as its evidence allows.

    Args:
        notebook: that runs.
        trials: of the exercises to judge, by id.
        device: where the notebook runs, unless it is moved.
        tell: gets each verdict as soon as it is known, without an explanation yet; None if nobody waits for it.
        judged_again: tells which exercises another run judges again; these are left unexplained here. None: none.
        unexplained: gets by exercise id the error of ours that left a verdict without an explanation.
        explaining: what all explanations of the submission may take.
    """

    lesson: Lesson
    rebuilt: Rebuilt
    notebook: NotebookNode
    trials: Mapping[str, Sequence[PlannedTrial]]
    reference_results: ReferenceResults
    device: str
    tell: Tell | None
    judged_again: JudgedAgain | None
    unexplained: dict[str, str]
    explaining: Allowance
    put_off: frozenset[str] = frozenset()  # exercises that another run judges again
    _judged: dict[str, _Judged] = field(default_factory=dict)
    _repairs: dict[str, Repair | None] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)  # exercises that were judged before the last cell

    def arrived(self, results: Mapping[str, CellResult], evidence: Mapping[str, Evidence]) -> None:
        """Judge the exercises of which everything came back, and tell which passed; do nothing without `tell`.

        One that fails is judged again after the last cell: what explains it may stand further down.
        """
        if self.tell is None:
            return
        for id, planned in self.trials.items():
            if id not in self._seen and all(trial.key in evidence for trial in planned):
                self._seen.add(id)
                verdict = judge(planned[0].exercise, planned, evidence, self.reference_results, self.device)
                if verdict.outcome is Outcome.PASSED:
                    self._keep(verdict, evidence, lambda: None)

    def try_repairs(self, results: Mapping[str, CellResult], evidence: Mapping[str, Evidence]) -> Iterator[Request]:
        """Judge the exercises; yield requests that try small changes of unexplained answers; keep what mends one."""
        cells = cells_that_ran(self.lesson, self.rebuilt, self.notebook, results)
        judged = {
            id: self._judge(planned[0].exercise, evidence, self.device, cells) for id, planned in self.trials.items()
        }
        if self.judged_again:
            self.put_off = self.judged_again({id: one.verdict for id, one in judged.items()}, results)
        for id in (id for id in judged if id not in self.put_off):
            try:
                repair = self._search(judged[id], evidence)
                self._repairs[id] = yield from self.explaining.steps(repair)
            except (Exception, TookTooLong) as error:  # as in `explain`
                self.unexplained[id] = _why(error)

    def _search(self, judged: _Judged, evidence: Mapping[str, Evidence]) -> Generator[Request, None, Repair | None]:
        """Yield requests that try small changes of an answer; return the change that makes it right, or None."""
        wrong = judged.wrong()
        if wrong is None or not wrong.needs_repair():
            return None
        search = wrong.find_repair()
        return (yield from repair_requests(search, wrong.trials, self.reference_results, evidence, self.device))

    def verdicts(self, execution: Execution) -> dict[str, Verdict]:
        """Return the verdict on each exercise, explained unless another run judges it again."""
        cells = cells_that_ran(self.lesson, self.rebuilt, execution.notebook, execution.cells)
        return {id: self._with_notes(planned[0].exercise, execution, cells) for id, planned in self.trials.items()}

    def explain(self, verdict: Verdict) -> Verdict:
        """Add to a verdict of this run what explains it."""
        try:
            with self.explaining.timed():
                return diagnose(verdict, self._judged[verdict.id].wrong(), self._repairs.get(verdict.id))
        # An explanation decides nothing: without one, the verdict is what it is.
        except (Exception, TookTooLong) as error:
            self.unexplained[verdict.id] = _why(error)
            return verdict

    def _judge(
        self, exercise: Exercise, evidence: Mapping[str, Evidence], device: str, cells: NotebookCells
    ) -> _Judged:
        """Return the verdict on an exercise with its evidence: the one from before, unless other evidence came back since."""
        known = self._judged.get(exercise.id)
        if known is not None and all(map(is_, known.evidence, self._evidence(exercise.id, evidence))):
            return known
        found = self.trials[exercise.id], evidence, self.reference_results, device, cells
        verdict = judge(exercise, *found)
        return self._keep(verdict, evidence, partial(wrong_answer, exercise, verdict, *found))

    def _keep(
        self, verdict: Verdict, evidence: Mapping[str, Evidence], wrong: Callable[[], WrongAnswer | None]
    ) -> _Judged:
        """Remember a verdict with its evidence, pass it to `tell`, and return the record."""
        judged = _Judged(verdict=verdict, evidence=self._evidence(verdict.id, evidence), wrong=cache(wrong))
        self._judged[verdict.id] = judged
        if self.tell:
            self.tell(verdict)
        return judged

    def _evidence(self, id: str, evidence: Mapping[str, Evidence]) -> tuple[Evidence | None, ...]:
        """Return what came back on each trial of an exercise; None where nothing did."""
        return tuple(evidence.get(trial.key) for trial in self.trials[id])

    def _with_notes(self, exercise: Exercise, execution: Execution, cells: NotebookCells) -> Verdict:
        """Return the verdict on one exercise with the notes about it, explained unless another run judges it again."""
        verdict = self._judge(exercise, execution.evidence, execution.device, cells).verdict
        if exercise.id not in self.put_off:
            verdict = self.explain(verdict)
        if exercise.id not in self.rebuilt.answers:
            verdict = replace(verdict, message="there is no cell for this exercise")
        if verdict.outcome is Outcome.FAILED:
            code, message = code_of(self.rebuilt, exercise), verdict.message
            hint = training_stopped(verdict, exercise, cells) or not_installed(message) or refused_call(message)
            hint = hint or shadowed(code, exercise.defines, self.lesson.definitions, message)
            if hint:
                verdict = replace(verdict, hint=hint, mistake=None, diagnosis="exception")
        notes = self.rebuilt.notes.get(exercise.id, ())
        return replace(verdict, notes=(*verdict.notes, *notes, *where_it_stopped(exercise, verdict, cells)))


def _why(error: BaseException) -> str:
    """Say what left an answer without an explanation."""
    if isinstance(error, TookTooLong):
        return "looking for an explanation took too long"
    return f"{type(error).__name__}: {error}"


def say_shortened(notebook: NotebookNode, cells: Collection[str]) -> None:
    """Note in the outputs of each of these training cells that ran that it was shortened; change the notebook itself."""
    for cell in notebook.cells:
        if cell.id in cells and cell.execution_count:
            cell.outputs = [*cell.outputs, nbformat.v4.new_output("stream", name="stdout", text=NOTE)]
