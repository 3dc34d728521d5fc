"""However JupyterLab splits an answer of the course's own solutions, the rebuilt answer is the whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course import lessons
from grader.grading.grade import master_notebook
from grader.submission.cells import answer_cell
from grader.submission.file import Cell, Submission
from grader.submission.notebook import parse
from grader.submission.rebuild import rebuild

ROOT = Path(__file__).parents[2]


def halves(cell: Cell) -> Iterator[tuple[Cell, Cell]]:
    """Split a cell between any two lines; JupyterLab removes the empty lines there, and keeps the metadata."""
    lines = cell.source.split("\n")
    for place in range(1, len(lines)):
        above, below = "\n".join(lines[:place]), "\n".join(lines[place:])
        yield replace(cell, source=above.strip("\n")), replace(cell, source=below.strip("\n"))


def meaning(source: str) -> str:
    """Dump the syntax tree; white space within strings does not count, as a docstring may be split, too."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = "".join(node.value.split())
    return ast.dump(tree)


@pytest.mark.fast_cases("1-attention")
@pytest.mark.parametrize("assignment", lessons())
def test_a_split_answer_is_put_together(assignment: str) -> None:
    lesson, master = lessons()[assignment], master_notebook(ROOT, assignment)
    cells = parse((ROOT / "solutions" / assignment / f"{assignment}.ipynb").read_bytes()).cells
    unsplit = rebuild(lesson, master, Submission(cells, ""))
    whole = unsplit.answers
    count = 0
    for exercise in lesson.exercises:
        index = next(i for i, cell in enumerate(cells) if cell.grade_id == answer_cell(exercise.id))
        for above, below in halves(cells[index]):
            split = Submission((*cells[:index], above, below, *cells[index + 1 :]), "")
            rebuilt = rebuild(lesson, master, split)
            assert meaning(rebuilt.answers[exercise.id]) == meaning(whole[exercise.id]), (exercise.id, below.source)
            assert {**rebuilt.answers, exercise.id: ""} == {**whole, exercise.id: ""}
            assert rebuilt.own == unsplit.own  # what the author answered, and no half of a cell
            count += 1
    assert count > 80
