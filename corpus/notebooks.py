"""Read whole notebooks as students hand them in: the released notebook, solved, with what each student has differently.

A file of corpus/notebooks holds many of them. A case begins with `# %% [right] name | habit` or `# %% [wrong 1.3] name | habit`;
below it follow cells, each under an operation on a cell of the released notebook:

    # %% after exercise-1-4      a new code cell below it; several in the order written
    # %% before start            a new code cell above it
    # %% in exercise-1-3         its whole source
    # %% delete check-1-3        the cell is left out
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

from corpus.judging import ROOT, solutions
from grader.paths import notebook_path
from grader.submission.cells import answer_cell

HERE = Path(__file__).parent / "notebooks"
HEAD = re.compile(r"^# %% \[(right|wrong)(?: (\S+))?\] (\w+) \| (.+)$")
OPERATION = re.compile(r"^# %% (after|before|in|delete) (\S+)\s*$")


class Change(NamedTuple):
    """What is done to one cell of the released notebook."""

    operation: str  # after, before, in, delete
    cell: str
    source: str


class WholeNotebook(NamedTuple):
    """A student's notebook."""

    assignment: str
    name: str
    habit: str
    wrong: str  # the exercise whose answer is wrong; "" if all are right
    changes: tuple[Change, ...]


@cache
def whole_notebooks(assignment: str, folder: Path = HERE) -> tuple[WholeNotebook, ...]:
    """Return the whole notebooks of a lesson, in the order of their files."""
    files = sorted(folder.glob(f"{assignment}*.txt"))
    return tuple(case for file in files for case in _cases(assignment, file.read_text("utf-8")))


def _cases(assignment: str, text: str) -> Iterator[WholeNotebook]:
    head: re.Match[str] | None = None
    changes: list[tuple[str, str, list[str]]] = []

    def case() -> Iterator[WholeNotebook]:
        if head:
            made = tuple(Change(what, cell, "\n".join(lines).strip("\n")) for what, cell, lines in changes)
            yield WholeNotebook(assignment, head[3], head[4], head[2] or "", made)

    for line in text.split("\n"):
        if found := HEAD.match(line):
            yield from case()
            head, changes = found, []
        elif found := OPERATION.match(line):
            changes.append((found[1], found[2], []))
        elif changes:
            changes[-1][2].append(line)
    yield from case()


@cache
def _solved(assignment: str) -> NotebookNode:
    """Return the released notebook with the official solutions in its answer cells."""
    book = nbformat.read(notebook_path(ROOT, assignment), as_version=4)
    answers = {answer_cell(id): source for id, source in solutions(assignment).items()}
    for cell in book.cells:
        cell.source = answers.get(cell.id, cell.source)
    return book


def notebook_of(case: WholeNotebook) -> NotebookNode:
    """Return a student's notebook.

    Raises:
        ValueError: a change is to a cell that the released notebook does not have.
    """
    book = deepcopy(_solved(case.assignment))
    if unknown := {change.cell for change in case.changes} - {cell.id for cell in book.cells}:
        raise ValueError(f"{case.assignment}, {case.name}: no cell {', '.join(sorted(unknown))}")
    cells: list[NotebookNode] = []
    for cell in book.cells:
        own = [change for change in case.changes if change.cell == cell.id]
        cells += (nbformat.v4.new_code_cell(change.source) for change in own if change.operation == "before")
        if not any(change.operation == "delete" for change in own):
            cell.source = next((change.source for change in own if change.operation == "in"), cell.source)
            cells.append(cell)
        cells += (nbformat.v4.new_code_cell(change.source) for change in own if change.operation == "after")
    book.cells = cells
    return book
