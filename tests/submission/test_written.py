"""A student's own words and predictions, from the submitted file to the rebuilt notebook."""

from __future__ import annotations

import html
import json

import nbformat
import pytest
from nbconvert.filters import markdown2html

from grader.submission.cells import with_prediction_marker, with_question_marker, written_cell
from grader.submission.notebook import CUT, MAX_TEXT, parse
from grader.submission.rebuild import Rebuilt, rebuild
from tests.submission.test_rebuild import ANSWER_F, LESSON, MASTER, STUB_F, code

STUB = "*Write over this line.*"
PREDICTION = "predict-slope"
RELEASED = with_prediction_marker("slope", "slope = None")


def text_cell(source: str, **more) -> nbformat.NotebookNode:
    cell = nbformat.v4.new_markdown_cell(source, **more)
    return cell


def written(source: str) -> nbformat.NotebookNode:
    marks = {"grade_id": written_cell("9.Q1"), "grade": True, "solution": True, "points": 0}
    return text_cell(source, id=written_cell("9.Q1"), metadata={"nbgrader": marks, "question": "Why?"})


WITH_QUESTION = nbformat.v4.new_notebook(
    cells=[
        *MASTER.cells,
        code(PREDICTION, RELEASED),
        code("compare", "print(slope)"),
        text_cell("### Question", id="question-9-Q1"),
        written(with_question_marker("9.Q1", STUB)),
    ]
)


def hand_in(*cells: nbformat.NotebookNode) -> Rebuilt:
    notebook = nbformat.v4.new_notebook(cells=[code("exercise-9-1", ANSWER_F), *cells])
    return rebuild(LESSON, WITH_QUESTION, parse(json.dumps(notebook).encode()))


def text_of(rebuilt: Rebuilt) -> str:
    (one,) = rebuilt.written
    assert (one.id, one.title) == ("9.Q1", "Why?")
    return one.text


TEXT = "Keys find,\n\nvalues hand over."


@pytest.mark.parametrize(
    "cell",
    [
        written(with_question_marker("9.Q1", TEXT)),
        text_cell(with_question_marker("9.Q1", TEXT)),  # Colab drops ids, some editors the metadata
        written(TEXT),  # the student deleted the comment
        text_cell(TEXT, id=written_cell("9.Q1")),
        written(with_question_marker("9.Q1", f"{STUB}\n{TEXT}")),  # wrote below the line
        nbformat.v4.new_code_cell(with_question_marker("9.Q1", TEXT)),  # turned into code by mistake
        nbformat.v4.new_raw_cell(with_question_marker("9.Q1", TEXT)),
    ],
    ids=["whole", "marker only", "no marker", "id only", "below the stub", "as code", "as raw"],
)
def test_the_text_comes_through_however_the_cell_looks(cell) -> None:
    rebuilt = hand_in(cell)
    assert text_of(rebuilt) == TEXT
    assert not rebuilt.own
    assert rebuilt.answers == {"9.1": ANSWER_F}


def test_two_cells_of_one_question_are_put_together() -> None:
    cells = (text_cell(with_question_marker("9.Q1", part)) for part in TEXT.split("\n\n"))
    assert text_of(hand_in(*cells)) == TEXT


def test_nothing_written_is_an_empty_text() -> None:
    assert text_of(hand_in()) == ""
    assert text_of(hand_in(written(with_question_marker("9.Q1", STUB)))) == ""
    assert text_of(hand_in(text_cell("### My own remark"))) == ""


def test_a_text_without_end_is_cut() -> None:
    text = text_of(hand_in(written("a" * (2 * MAX_TEXT))))
    assert text == "a" * MAX_TEXT + CUT


def test_the_notebook_shows_a_text_as_typed_and_lets_nothing_in_it_run() -> None:
    hostile = (
        "</div><script>alert(1)</script>\n\n[x](javascript:alert(1)) ![](https://example.com/seen.png)\n"
        "$\\href{javascript:alert(1)}{y}$ `c` <img src=x onerror=alert(1)> -->"
    )
    cell = hand_in(written(hostile)).notebook.cells[-1]
    page = markdown2html(cell.source)
    inside = page.partition('white-space: pre-wrap">')[2].partition("</div>")[0]
    assert html.unescape(inside) == hostile
    for tag in ("<script", "<img", "<a ", "<code", "<p>"):
        assert tag not in page
    assert "mathjax_ignore" in page


# ---------------------------------------------------------------- predictions

EDITED = with_prediction_marker("slope", "slope = 0.3")


def sources(rebuilt: Rebuilt) -> dict[str, str]:
    return {cell.id: cell.source for cell in rebuilt.notebook.cells}


def test_a_prediction_is_kept_in_its_place() -> None:
    rebuilt = hand_in(nbformat.v4.new_code_cell(EDITED), code("compare", "print(slope)"))
    assert sources(rebuilt)[PREDICTION] == EDITED
    assert [cell.id for cell in rebuilt.notebook.cells] == [cell.id for cell in WITH_QUESTION.cells]
    assert rebuilt.own == (PREDICTION,)  # it may raise or hang, as any code of a student


def test_an_open_prediction_is_the_lessons_own_cell() -> None:
    for cells in ((), (code(PREDICTION, RELEASED),)):
        rebuilt = hand_in(*cells)
        assert sources(rebuilt)[PREDICTION] == RELEASED
        assert rebuilt.own == ()


def test_of_two_copies_the_last_counts() -> None:
    other = with_prediction_marker("slope", "slope = 0.4")
    assert sources(hand_in(code("a", other), code("b", EDITED)))[PREDICTION] == EDITED


def test_a_marker_takes_no_answer_away() -> None:
    both = f"{ANSWER_F}\n# @predict slope"
    notebook = nbformat.v4.new_notebook(cells=[code("a", both)])
    rebuilt = rebuild(LESSON, WITH_QUESTION, parse(json.dumps(notebook).encode()))
    assert rebuilt.answers == {"9.1": both}
    assert sources(rebuilt)[PREDICTION] == RELEASED
    assert STUB_F not in rebuilt.answers.values()
