"""Questions in words and predictions: from the script to both notebooks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from grader.build.questions import question_cells
from grader.build.scripts import _cells
from grader.build.student import TEXT_STUB, student_notebook
from grader.course.lesson_1 import LESSON
from grader.declare.errors import DeclarationError
from grader.submission.cells import predicted, question_title, thoughts, without_marks, without_predictions

ROOT = Path(__file__).resolve().parents[2]
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


# ---------------------------------------------------------------- our answers to questions for thought; predictions

ASKED_FOR_THOUGHT = """## Reflect

1. Why is the *first* one
   the largest?

   === BEGIN ANSWER ===
   It is **sharp**.
   So is `x`.
   === END ANSWER ===
2. And the second?

   === BEGIN ANSWER ===
   It is not.
   === END ANSWER ===

The end."""


def test_an_answer_is_folded_in_the_solution_and_not_in_the_student_notebook() -> None:
    (cell,) = _cells(nbformat.v4.new_markdown_cell(ASKED_FOR_THOUGHT), LESSON, None, "")
    assert cell.source.count("<details") == 2
    assert "ANSWER ===" not in cell.source
    assert thoughts(cell.source) == [
        ("Why is the first one the largest?", "It is sharp. So is `x`."),
        ("And the second?", "It is not."),
    ]
    book = nbformat.v4.new_notebook(
        cells=[cell], metadata={"kernelspec": {"display_name": "", "language": "python", "name": "python3"}}
    )
    (given,) = student_notebook("1-attention", book).cells
    assert given.source == "## Reflect\n\n1. Why is the *first* one\n   the largest?\n2. And the second?\n\nThe end."


def test_an_answer_without_its_end_is_refused() -> None:
    with pytest.raises(ValueError, match="must stand in lines of their own"):
        _cells(nbformat.v4.new_markdown_cell("Why?\n\n=== BEGIN ANSWER ===\nSo."), LESSON, None, "")


def test_students_get_a_prediction_without_what_the_author_filled_in() -> None:
    cell = nbformat.v4.new_code_cell(
        'recall = {\n    # "ä"? A tuple.\n    "ä": (2, "ö"),  # a remark\n    "b": None,\n}',
        metadata={"predict": "recall"},
    )
    (made,) = _cells(cell, LESSON, None, "")
    assert predicted(made.source) == {"ä": (2, "ö"), "b": None}
    book = nbformat.v4.new_notebook(
        cells=[made], metadata={"kernelspec": {"display_name": "", "language": "python", "name": "python3"}}
    )
    (given,) = student_notebook("1-attention", book).cells
    assert (
        given.source
        == '# @predict recall\nrecall = {\n    # "ä"? A tuple.\n    "ä": None,  # a remark\n    "b": None,\n}'
    )
    assert predicted(given.source) == {"ä": None, "b": None}
    with pytest.raises(ValueError, match="must stand in one line"):
        without_predictions('x = {"a": (1,\n 2)}')


@pytest.mark.parametrize(
    "source",
    [
        "x = {",
        "x = 1",
        'x = {"a": 1 + 1, "b": print(2), c: 3, **d}',
        "(" * 5000,
        'x = {"a": ' + "(" * 90 + ")" * 90 + "}",
        "x = {1: 2}",
    ],
)
def test_a_prediction_that_says_nothing_is_read_as_nothing(source: str) -> None:
    assert predicted(source) in ({}, {"a": ()})


def test_a_prediction_says_numbers_words_and_tuples() -> None:
    assert predicted('# @predict x\nx = {"a": -0.5, "b": [1, 2], "c": "same", "d": None}') == {
        "a": -0.5,
        "b": (1, 2),
        "c": "same",
        "d": None,
    }


@pytest.mark.parametrize(
    ("name", "count"),
    [("1-attention", 5), ("2-heads", 5), ("3-vlm", 3), ("4-modern", 2), ("5-real", 1), ("6-explain", 3)],
)
def test_every_question_for_thought_is_answered_in_the_solution_alone(name: str, count: int) -> None:
    def texts(folder: str) -> list[str]:
        book = nbformat.read(ROOT / folder / name / f"{name}.ipynb", as_version=4)
        return [cell.source for cell in book.cells if cell.cell_type == "markdown"]

    answered = [pair for text in texts("solutions") for pair in thoughts(text)]
    assert len(answered) == count
    assert all(question.endswith("?") or "?" in question for question, _ in answered)
    given = "\n".join(texts("notebooks"))
    assert not [answer for _, answer in answered if answer[:40] in " ".join(given.split())]
    assert 'class="answer"' not in given
