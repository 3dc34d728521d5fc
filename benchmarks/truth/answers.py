"""Answers to exercises as source text, judged here: solutions, variants, mutants, and nothing worth the name.

They are ours and harmless, so no sandbox is needed; a mutant that loops is stopped by an alarm.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from grader.checks.judge import judge, run_here
from grader.checks.plan import Planned, plan
from grader.checks.policy import used_builtins
from grader.course import lessons
from grader.exercise import Evidence, Exercise, Lesson, Mistake, Outcome, Status, Verdict

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20  # one answer on all its trials


@dataclass(frozen=True)
class Variant:
    """A right answer in another style."""

    exercise: str
    name: str
    source: str


@cache
def solutions(assignment: str) -> Mapping[str, str]:
    """The solution's source by exercise id."""
    book = nbformat.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    lesson = lessons()[assignment]
    cells = {cell.id: cell.source for cell in book.cells}
    return {exercise.id: cells[f"exercise-{exercise.slug}"] for exercise in lesson.exercises}


@cache
def variants(assignment: str) -> tuple[Variant, ...]:
    """The right-but-different answers of a lesson, from tests/course/variants/."""
    script = ROOT / "tests" / "course" / "variants" / f"{assignment}.py"
    cells = jupytext.read(script, fmt="py:percent").cells
    return tuple(
        Variant(cell.metadata["exercise"], cell.metadata["variant"], cell.source)
        for cell in cells
        if "variant" in cell.metadata
    )


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


@cache
def notebook_names(assignment: str) -> Mapping[str, Any]:
    """What is defined in the solution notebook before and beside the exercises: imports, given code, solutions."""
    book = nbformat.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in book.cells:
        wanted = cell.id in ("setup", "start") or cell.id.startswith(("provided", "exercise"))
        if cell.cell_type == "code" and wanted:
            exec(compile(cell.source, cell.id, "exec"), names)
    return names


def verdict(lesson: Lesson, exercise: Exercise, source: str, secret: str = "truth") -> Verdict:
    """The verdict on one answer, given as source text."""
    names = dict(notebook_names(lesson.assignment))
    for name in exercise.defines:
        names.pop(name, None)

    def answer(planned: Sequence[Planned]) -> Iterator[Evidence]:
        exec(compile(source, "answer", "exec"), names)
        for one in planned:
            absent = [name for name in exercise.defines if name not in names]
            yield (
                _raised(one, NameError(f"name '{absent[0]}' is not defined"))
                if absent
                else run_here(one.check.probe, names, one.inputs, one.key)
            )

    result = judged(lesson, exercise, answer, secret)
    if used_builtins(exercise, source):
        return replace(result, outcome=Outcome.FAILED, points=0.0)
    return result


def mistaken(lesson: Lesson, exercise: Exercise, wrong: Mistake, secret: str = "truth") -> Verdict:
    """The verdict on an answer that makes a declared mistake, and is right otherwise."""
    names = {**lesson.reference, **wrong.replaces}

    def answer(planned: Sequence[Planned]) -> Iterator[Evidence]:
        for one in planned:
            yield run_here(one.check.probe, names, one.inputs, one.key)

    return judged(lesson, exercise, answer, secret)


def judged(
    lesson: Lesson, exercise: Exercise, answer: Callable[[Sequence[Planned]], Iterator[Evidence]], secret: str
) -> Verdict:
    """The verdict on what an answer returns; checks of trained objects, which need the whole notebook, are left out."""
    kept = [check for check in exercise.checks if check.at is None]
    names = {check.name for check in kept}
    kept = [replace(check, needs=tuple(need for need in check.needs if need in names)) for check in kept]
    part = replace(exercise, checks=tuple(kept), points=sum(check.points for check in kept))
    planned = plan(replace(lesson, exercises=(part,)), secret, "truth")
    evidence: dict[str, Evidence] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with alarm(SECONDS):
                for got in answer(planned):
                    evidence[got.key] = got
        except Exception as error:
            for one in planned:
                evidence.setdefault(one.key, _raised(one, error))
    return judge(lesson, part, planned, evidence)


def _raised(one: Planned, error: Exception) -> Evidence:
    status = Status.TIMEOUT if isinstance(error, TooLong) else Status.RAISED
    return Evidence(key=one.key, status=status, error=type(error).__name__, message=str(error))


class TooLong(Exception):
    """The alarm went off."""


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """Raise TooLong after some seconds. Main thread only."""

    def ring(*_: object) -> None:
        raise TooLong(f"longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
