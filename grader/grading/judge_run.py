"""Judge the exercises of one run of a notebook, and explain those that failed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import nbformat
from nbformat import NotebookNode

from grader.declare.exercise import Exercise
from grader.declare.lesson import SHORT, Lesson
from grader.explain.diagnose import diagnose, wrong_answer
from grader.explain.exceptions.meaning import not_installed, refused_call, shadowed
from grader.grading.changed_answers import Ask, in_sandbox, judge_defaults
from grader.grading.undefined import cells_that_ran, training_stopped, where_it_stopped
from grader.judge.built_ins import code_of
from grader.judge.planned_trial import PlannedTrial
from grader.judge.raised import NotebookCells
from grader.judge.reference_results import ReferenceResults
from grader.judge.verdicts import Tried, judge_trials, verdict_of
from grader.records import Outcome, Verdict
from grader.sandbox.engine import Execution
from grader.submission.cells import answer_cell
from grader.submission.rebuild import Rebuilt

NOTE = (
    f"[Shortened for grading: {SHORT} steps. The rest of this training was verified from secret states in its middle "
    "and near its end, and the trained model with trained weights. "
    "What cells below show of it is the state after these "
    f"{SHORT} steps.]\n"
)


@dataclass(frozen=True, kw_only=True)
class JudgedAnswer:
    """The judged answer to one exercise in one run of the notebook, with everything needed to explain the verdict."""

    lesson: Lesson  # the form of it that ran
    exercise: Exercise
    verdict: Verdict
    tried: Sequence[Tried]
    results: ReferenceResults
    cells: NotebookCells  # that ran
    device: str  # where they ran


def judge_run(
    lesson: Lesson,
    rebuilt: Rebuilt,
    execution: Execution,
    trials: Mapping[str, Sequence[PlannedTrial]],
    results: ReferenceResults,
) -> dict[str, JudgedAnswer]:
    """Judge the exercises of one run of a notebook.

    Args:
        trials: exercise id → the trials of the exercise.

    Returns:
        The judged answers by exercise id.
    """
    cells, device = cells_that_ran(lesson, rebuilt, execution.notebook, execution.cells), execution.device
    judged = {}
    for id, planned in trials.items():
        exercise = planned[0].exercise
        tried = judge_trials(planned, execution.evidence, results, device, cells)
        judged[id] = JudgedAnswer(
            lesson=lesson,
            exercise=exercise,
            verdict=verdict_of(exercise, tried, results, device),
            tried=tried,
            results=results,
            cells=cells,
            device=device,
        )
    return judged


def explained(answer: JudgedAnswer, ask: Ask | None) -> Verdict:
    """Return the verdict on an answer, with a hint that explains the failure if one is found.

    Without `ask`, no changes of the answer are tried.
    """
    wrong = wrong_answer(answer.exercise, answer.verdict, answer.tried, answer.results, answer.cells)
    try_ = in_sandbox(wrong.trials, answer.results, ask, answer.device) if wrong and ask else None
    return diagnose(answer.verdict, wrong, try_)


def with_task_defaults(answer: JudgedAnswer, ask: Ask) -> JudgedAnswer:
    """Return the judged answer, with a new verdict if it earns more points with the task's default values."""
    source = answer.cells.sources.get(answer_cell(answer.exercise.id), "")
    rest = answer.tried, source, answer.results, ask, answer.device
    return replace(answer, verdict=judge_defaults(answer.exercise, answer.verdict, *rest))


def with_notes(rebuilt: Rebuilt, answer: JudgedAnswer, verdict: Verdict) -> Verdict:
    """Return the verdict with the notes about the answer.

    If the cause of a failure is outside the answer, the verdict also gets a hint about it.
    """
    lesson, exercise = answer.lesson, answer.exercise
    if exercise.id not in rebuilt.answers:
        verdict = replace(verdict, message="there is no cell for this exercise")
    if verdict.outcome is Outcome.FAILED:
        code, message = code_of(rebuilt, exercise), verdict.message
        hint = training_stopped(verdict, exercise, answer.cells) or not_installed(message) or refused_call(message)
        if hint := hint or shadowed(code, exercise.defines, lesson.definitions, message):
            verdict = replace(verdict, hint=hint, mistake=None, diagnosis="exception")
    notes = rebuilt.notes.get(exercise.id, ())
    return replace(verdict, notes=(*verdict.notes, *notes, *where_it_stopped(exercise, verdict, answer.cells)))


def say_shortened(notebook: NotebookNode, cells: Collection[str]) -> None:
    """Add a note to the outputs of these training cells: the training run was shortened.

    Only cells that ran get the note. The notebook is changed in place.
    """
    for cell in notebook.cells:
        if cell.id in cells and cell.execution_count:
            cell.outputs = [*cell.outputs, nbformat.v4.new_output("stream", name="stdout", text=NOTE)]
