"""Judges answers here, given as source text: solutions, variants, mutants, and nothing worth the name.

They are ours and harmless, so no sandbox is needed; a mutant that loops is stopped by an alarm.
"""

from __future__ import annotations

import io
import linecache
import re
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from inspect import signature
from itertools import count
from pathlib import Path
from typing import Any

import nbformat
import torch
from torch import Tensor

from grader.course import lessons
from grader.declare.exercise import Check, Exercise, Mistake
from grader.declare.lesson import Lesson
from grader.declare.sampler import InputSampler
from grader.explain.diagnose import diagnose, wrong_answer
from grader.grading.changed_answers import in_sandbox, judge_defaults
from grader.judge.built_ins import refused
from grader.judge.from_scratch import used_builtins
from grader.judge.planned_trial import PlannedTrial, plan_exercise
from grader.judge.raised import NO_CELLS, NotebookCells
from grader.judge.reach import StudentCode, complaint
from grader.judge.reference_results import ReferenceResults, run_here
from grader.judge.verdicts import Tried, judge, judge_trials, verdict_of
from grader.paths import notebook_path
from grader.records import Evidence, Place, Request, Status, Verdict
from grader.submission.cells import TOOLS_CELL, Role, answer_cell, role

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 20  # of CPU time: one answer on all its trials
_numbers = count()  # of file names, so that each answer has its own


@cache
def solutions(assignment: str) -> Mapping[str, str]:
    """The solution's source by exercise id."""
    book = nbformat.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    lesson = lessons()[assignment]
    cells = {cell.id: cell.source for cell in book.cells}
    return {exercise.id: cells[answer_cell(exercise.id)] for exercise in lesson.exercises}


def empty_answers(exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Answers of the right form and no content: the names, and nothing behind them."""
    bodies = {
        "nothing": "return None",
        "zero": "return torch.zeros(1)",
        "its first input": "return next((a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)), None)",
        "random": "return torch.rand(2, 3), torch.rand(2, 3)",
    }
    for what, body in bodies.items():
        yield what, "\n".join(f"def {name}(*args, **kwargs):\n    {body}" for name in exercise.defines)


def shape_only(lesson: Lesson, exercise: Exercise) -> Iterator[Mistake]:
    """Answers of the right shape, dtype, parameters and attributes, and with numbers that mean nothing."""
    for what, like in (("zeros", torch.zeros_like), ("ones", torch.ones_like), ("random", _random_like)):
        wrong = {name: _emptied(lesson.reference[name], like) for name in exercise.defines}
        yield Mistake(f"right shape, {what}", wrong, "")


def _random_like(tensor: Tensor) -> Tensor:
    return torch.rand(tensor.shape, dtype=torch.float64).mul(2).to(tensor.dtype)


def _emptied(right: Any, like: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(right, type):

        class Empty(right):
            def forward(self, *args: Any, **kwargs: Any) -> Any:
                return _of_shape(super().forward(*args, **kwargs), like)

        return Empty
    return lambda *args, **kwargs: _of_shape(right(*args, **kwargs), like)


def _of_shape(value: Any, like: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return like(value)
    if isinstance(value, (tuple, list)):
        return type(value)(_of_shape(one, like) for one in value)
    if isinstance(value, str):
        return ""
    return like(torch.tensor(value)).item() if isinstance(value, float) else value


@cache
def notebook_names(assignment: str) -> Mapping[str, Any]:
    """What is defined in the solution notebook before and beside the exercises: imports, given code, solutions."""
    book = nbformat.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in book.cells:
        wanted = cell.id in ("setup", "start") or role(cell.id) in (Role.PROVIDED, Role.ANSWER)
        if cell.cell_type == "code" and wanted:
            exec(compile(cell.source, cell.id, "exec"), names)
    return names


@dataclass(frozen=True)
class Sheet:
    """An exercise under one course secret: the trials, and what our own definitions return on them.

    Checks of trained objects need the whole notebook and are left out.
    """

    exercise: Exercise
    planned: tuple[PlannedTrial, ...]
    lesson: Lesson
    ours: ReferenceResults


@lru_cache(maxsize=64)
def sheet(assignment: str, id: str, secret: str) -> Sheet:
    """The trials of one exercise, drawn."""
    lesson = lessons()[assignment]
    exercise = lesson.exercise(id)
    kept = [check for check in exercise.checks if not _of_trained_objects(lesson, check)]
    names = {check.name for check in kept}
    kept = [replace(check, needs=tuple(need for need in check.needs if need in names)) for check in kept]
    part = replace(exercise, checks=tuple(kept), points=sum(check.points for check in kept))
    planned = plan_exercise(part, secret, "truth")
    return Sheet(part, planned, lesson, ReferenceResults(lesson.reference))


def _of_trained_objects(lesson: Lesson, check: Check) -> bool:
    """Whether the probe asks for something that only the notebook's own cells make."""
    there = notebook_names(lesson.assignment).keys() | check.trials[0].draw(InputSampler("sheet")).keys()
    return not {check.names.get(name, name) for name in signature(check.probe).parameters} <= there


def verdict(
    lesson: Lesson, exercise: Exercise, source: str, secret: str = "truth", *, explained: bool = True
) -> Verdict:
    """The verdict on one answer, given as source text; without an explanation, which takes most of the time, if not `explained`."""
    on = sheet(lesson.assignment, exercise.id, secret)
    evidence = tried(on, source)
    result = _explained(on, evidence, source) if explained else _judged(on, evidence)
    used = used_builtins(exercise, StudentCode(source))
    return refused(result, complaint(used)) if used else result


def tried(on: Sheet, source: str) -> dict[str, Evidence]:
    """Run one answer, given as source text, on all trials of its exercise; return what came back, by the trial's key."""
    names = dict(notebook_names(on.lesson.assignment))
    for name in on.exercise.defines:
        names.pop(name, None)
    cell = answer_cell(on.exercise.id)
    place_of = partial(_place, source, cell)
    evidence: dict[str, Evidence] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with alarm(SECONDS):
                exec(compile(source, cell, "exec"), names)
                absent = [name for name in on.exercise.defines if name not in names]
                if absent:
                    raise NameError(f"name '{absent[0]}' is not defined")
                for one in on.planned:
                    evidence[one.key] = run_here(one.check, names, one.inputs, one.key, place_of)
        except Exception as error:
            for one in on.planned:
                evidence.setdefault(one.key, _raised(one, error))
    return evidence


@cache
def _self_check_names(assignment: str) -> Mapping[str, Any]:
    """What is defined in the student notebook once its own cells ran: `notebook_names`, and the self-check as it was built."""
    names = dict(notebook_names(assignment))
    book = nbformat.read(notebook_path(ROOT, assignment), as_version=4)
    (tools,) = (cell for cell in book.cells if cell.id == TOOLS_CELL)
    exec(compile(tools.source, TOOLS_CELL, "exec"), names)
    return names


def self_check(
    lesson: Lesson, exercise: Exercise, source: str, replaces: Mapping[str, Any] | None = None
) -> tuple[bool, str]:
    """Try an answer with the notebook's own self-check; return whether it says ✔, and what it says.

    Args:
        source: of the answer; "" where `replaces` has its definitions.
    """
    names = dict(_self_check_names(lesson.assignment))
    for name in exercise.defines:
        names.pop(name, None)
        if not source:
            names[name] = {**lesson.reference, **(replaces or {})}[name]
    file = f"answer {exercise.id} {next(_numbers)}"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    said = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(said), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore")
        try:
            with alarm(SECONDS):
                exec(compile(source, file, "exec"), names)
                names["make_tools"](names)[0](exercise.id)
        except Exception as error:
            return False, str(error)
    return True, said.getvalue()


def mistaken(
    lesson: Lesson, exercise: Exercise, wrong: Mistake, secret: str = "truth", *, explained: bool = True
) -> Verdict:
    """The verdict on an answer that makes a declared mistake, and is right otherwise."""
    on = sheet(lesson.assignment, exercise.id, secret)
    evidence = {one.key: on.ours.wrong(one, wrong) for one in on.planned}
    return _explained(on, evidence) if explained else _judged(on, evidence)


def _judged(on: Sheet, evidence: Mapping[str, Evidence]) -> Verdict:
    """Judge an answer, as the grader does, and leave it unexplained."""
    return judge(on.exercise, on.planned, evidence, on.ours)


def _explained(on: Sheet, evidence: Mapping[str, Evidence], source: str = "") -> Verdict:
    """Judge an answer and explain it, as the grader does."""
    cell = answer_cell(on.exercise.id)
    cells = NotebookCells(sources={cell: source}, student={cell}) if source else NO_CELLS
    return hinted(on, judge_trials(on.planned, evidence, on.ours, "cpu", cells), cells)


def hinted(on: Sheet, tried: Sequence[Tried], cells: NotebookCells) -> Verdict:
    """Explain the verdict on an answer of which all trials are judged, as the grader does."""
    source, ask = cells.sources.get(answer_cell(on.exercise.id), ""), partial(_ask, on)
    found = judge_defaults(on.exercise, verdict_of(on.exercise, tried, on.ours), tried, source, on.ours, ask)
    wrong = wrong_answer(on.exercise, found, tried, on.ours, cells)
    return diagnose(found, wrong, wrong and in_sandbox(wrong.trials, on.ours, ask, "cpu"))


def _ask(on: Sheet, request: Request) -> dict[str, Evidence]:
    """Run the request that the sandbox would get, and return the evidence of its trials, by key."""
    names = notebook_names(on.lesson.assignment)
    scope: dict[str, Any] = dict(names)
    exec(request.source, scope)
    scope["namespace_of"] = lambda definition: names
    return {
        key: Evidence(key=key, status=Status.OK, values=scope[request.function](None, **inputs))
        for key, inputs in request.trials.items()
    }


def _place(source: str, cell: str, error: Exception) -> Place:
    """Find the line of an answer that raised an exception, and the shapes of the tensors on it, as the sandbox does."""
    place, trace = Place(), error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == cell:
            line = source.splitlines()[trace.tb_lineno - 1]
            tensors = {n: v for n, v in trace.tb_frame.f_locals.items() if isinstance(v, Tensor)}
            shapes = tuple((n, tuple(v.shape)) for n, v in tensors.items() if re.search(rf"\b{n}\b", line))
            place = Place(cell=cell, line=trace.tb_lineno, shapes=shapes)
        trace = trace.tb_next
    return place


def _raised(one: PlannedTrial, error: Exception) -> Evidence:
    status = Status.TIMEOUT if isinstance(error, TooLong) else Status.RAISED
    return Evidence(key=one.key, status=status, error=type(error).__name__, message=str(error))


class TooLong(Exception):
    """The alarm went off."""


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """Raise TooLong after some seconds of CPU time, so that a busy machine fails no answer. Main thread only."""

    def ring(*_: object) -> None:
        raise TooLong(f"longer than {seconds} s")

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
