"""Find what can stand in for a failed exercise: its carry-on cell, or the reference, which runs in this process.

The student has the carry-on cell, too, so it reveals nothing; classes, gradients and training work with it as
they do for the student. Where an exercise has no such cell, the reference stands in: it runs in this process,
and the sandbox calls it over a pipe (see grader/execution/stand_ins.py). Only tensors and numbers can cross
the pipe, so a class, or a function that takes a model, has no stand-in but a carry-on cell. In neither case
does the reference enter the sandbox.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass
from types import FunctionType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from nbformat import NotebookNode
from torch import Tensor

from grader.declaration.lesson import Lesson
from grader.notebook.cells import carry_on_cell, is_off, switched_on


@dataclass(frozen=True)
class StandIns:
    """The exercises that have a stand-in."""

    cells: Mapping[str, str]  # exercise id → id of its carry-on cell
    remote: frozenset[str]  # exercises whose functions the reference computes in this process

    @property
    def all(self) -> frozenset[str]:
        """All exercises that have a stand-in of either kind."""
        return frozenset(self.cells) | self.remote


def stand_ins(lesson: Lesson, notebook: NotebookNode) -> StandIns:
    """Find the stand-in of each exercise: its carry-on cell if the notebook has one, else the reference.

    The reference can stand in only if all that it defines are functions of tensors and numbers.
    """
    present = {cell.id for cell in notebook.cells}
    cells = {exercise.id: carry_on_cell(exercise.id) for exercise in lesson.exercises}
    cells = {exercise: cell for exercise, cell in cells.items() if cell in present}
    remote = frozenset(
        exercise.id
        for exercise in lesson.exercises
        if exercise.id not in cells and all(map(_takes_tensors, exercise.reference))
    )
    return StandIns(cells, remote)


def _takes_tensors(reference: Any) -> bool:
    """Tell whether a definition is a function that requires only tensors and numbers, by its annotations."""
    if not isinstance(reference, FunctionType):
        return False
    hints = get_type_hints(reference)
    return all(
        parameter.default is not parameter.empty
        or all(one in (Tensor, int, float, bool) for one in _alternatives(hints.get(name)))
        for name, parameter in inspect.signature(reference).parameters.items()
    )


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union; any other type, a list or a callable with arguments of its own too, by itself."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def with_carry_on(notebook: NotebookNode, cells: Collection[str]) -> NotebookNode:
    """Copy a notebook and switch on the carry-on cells with these ids."""
    copy = deepcopy(notebook)
    for cell in copy.cells:
        if cell.id in cells:
            cell.source = switched_on(cell.source)
    return copy


def carried_on(lesson: Lesson, notebook: NotebookNode) -> frozenset[str]:
    """Return the ids of the exercises whose carry-on cell is switched on."""
    sources = {cell.id: cell.source for cell in notebook.cells}
    return frozenset(
        exercise.id
        for exercise in lesson.exercises
        if (source := sources.get(carry_on_cell(exercise.id))) is not None and not is_off(source)
    )
