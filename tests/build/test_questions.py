"""Questions in words and predictions: from the script to both notebooks."""

from __future__ import annotations

from dataclasses import replace

import nbformat
import pytest

from grader.build.questions import question_cells
from grader.build.scripts import _cells
from grader.build.student import TEXT_STUB, student_notebook
from grader.course.lesson_1 import LESSON
from grader.declare.errors import DeclarationError
from grader.submission.cells import question_title, without_marks

ASKED = "### Why three?\n\nOne matrix for both, and what is lost?"
SCHEME = "- two jobs (1)\n- an example (1)"
SOURCE = f"{ASKED}\n\n=== BEGIN MARK SCHEME ===\n{SCHEME}\n=== END MARK SCHEME ==="


def notebook(lesson=LESSON):
    book = nbformat.v4.new_notebook(cells=question_cells("1.Q1", SOURCE, lesson))
    book.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book.nbformat_minor = 5
    return book


def test_the_solution_notebook_asks_and_holds_the_mark_scheme() -> None:
    asked, written = notebook().cells
    assert asked.source == (
        "### Question 1.Q1 · Why three? — in words, no points\n\nOne matrix for both, and what is lost?"
    )
    assert SCHEME in written.source
    assert SCHEME not in asked.source
    assert without_marks(written.source) == f"**Mark scheme.**\n\n{SCHEME}"
    assert question_title(written) == "Why three?"
    marks = written.metadata.nbgrader
    assert (marks.grade, marks.solution, marks.task, marks.locked, marks.points) == (True, True, False, False, 0)


def test_the_student_notebook_has_a_line_to_write_over_and_no_mark_scheme() -> None:
    book = student_notebook("1-attention", notebook())
    written = book.cells[1]
    assert written.source == f"<!-- @question 1.Q1 -->\n{TEXT_STUB}"
    assert "two jobs" not in nbformat.writes(book)
    assert "MARK SCHEME" not in nbformat.writes(book)
    assert written.metadata.nbgrader.grade_id == "written-1-Q1"


def test_the_declaration_gives_points() -> None:
    asked, written = notebook(replace(LESSON, questions={"1.Q1": 1})).cells
    assert asked.source.startswith("### Question 1.Q1 · Why three? — in words, 1 point\n")
    assert written.metadata.nbgrader.points == 1
    with pytest.raises(DeclarationError, match=r"questions: 1\.1 is an exercise"):
        replace(LESSON, questions={"1.1": 1})
    with pytest.raises(DeclarationError, match="has -1 points"):
        replace(LESSON, questions={"1.Q1": -1})


@pytest.mark.parametrize(
    ("id", "source", "said"),
    [
        ("1.Q1", ASKED, "no mark scheme"),
        ("1.Q1", SOURCE.replace(SCHEME, " "), "no mark scheme"),
        ("1.Q1", SOURCE + "\nand more", "goes on after its mark scheme"),
        ("1.Q1", SOURCE.replace("### Why three?", "Why three?"), "has no title"),
        ("1.1", SOURCE, "1.1 is an exercise"),
    ],
)
def test_what_is_no_question_is_refused(id: str, source: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        question_cells(id, source, LESSON)


def test_a_prediction_is_a_code_cell_with_a_marker(tmp_path) -> None:
    cell = nbformat.v4.new_code_cell("guess = None")
    cell.metadata["predict"] = "largest-weight"
    (made,) = _cells(cell, LESSON, tmp_path, "")
    assert (made.id, made.source) == ("predict-largest-weight", "# @predict largest-weight\nguess = None")
    assert "nbgrader" not in made.metadata
