"""What a class filled into its predictions, counted, and on the class page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest

from grader.classes.results import pages
from grader.classes.results.pages import Worked, class_predictions, is_current, page_of, worked
from grader.records import GradebookEntry
from grader.report.class_page import PredictedLine, class_page, predicted_lines
from grader.report.page import feedback_page
from grader.submission.cells import with_prediction_marker
from tests.report.class_of_grades import FULL
from tests.report.test_pages import Page

KNOWN = {"recall": {"a shape": (2, 3), "a word": "the same"}, "share": {"first": None}}
SAID = [
    {"recall": {"a shape": (2, 3), "a word": "The same "}, "share": {"first": 0.5}},
    {"recall": {"a shape": (3, 2)}, "share": {"first": 0.7}},
    {"recall": {"a shape": (3, 2), "a word": "<b>sharper</b>"}, "share": {"first": "half"}, "own": {"x": 1}},
    {},
]


def line(prediction: str, name: str, filled_in: int, right: int | None, answers: str) -> PredictedLine:
    return PredictedLine(prediction=prediction, line=name, filled_in=filled_in, right=right, answers=answers)


def test_each_line_is_counted() -> None:
    assert predicted_lines(SAID, KNOWN) == [
        line("recall", "a shape", 3, 1, "(3, 2) (2), (2, 3) (1)"),
        line("recall", "a word", 2, 1, "The same  (1), <b>sharper</b> (1)"),
        line("share", "first", 3, None, "median 0.6, from 0.5 to 0.7"),
    ]


def test_the_class_page_shows_them_and_nothing_where_nobody_predicted() -> None:
    entries = [GradebookEntry.of(FULL)]
    html = class_page(entries, {FULL.assignment: predicted_lines(SAID, KNOWN)})
    assert "recall a word 2 1 The same (1), <b>sharper</b> (1)" in Page(html).text
    assert "<b>sharper" not in html
    assert "Predictions and opening questions" not in class_page(entries, {FULL.assignment: predicted_lines([], KNOWN)})
    assert "Predictions and opening questions" not in class_page(entries)


def test_a_class_is_read_from_its_notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.classes.results.pages.worked", lambda _: Worked(predictions=KNOWN))
    folder = tmp_path / FULL.student / FULL.assignment
    folder.mkdir(parents=True)
    source = with_prediction_marker("recall", 'recall = {"a shape": (2, 3), "a word": __import__("os")}')
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id="predict-recall")])
    nbformat.write(book, folder / f"{FULL.assignment}.ipynb")
    found = class_predictions(tmp_path, [GradebookEntry.of(FULL)])[FULL.assignment]
    assert found[:2] == [line("recall", "a shape", 1, 1, "(2, 3) (1)"), line("recall", "a word", 0, 0, "")]


@pytest.mark.parametrize("name", ["2-heads", "3-vlm", "6-explain"])
def test_the_lessons_open_with_five_questions_whose_answers_are_known(name: str) -> None:
    known = worked(name).predictions["recall"]
    assert len(known) == 5
    assert None not in known.values()


# ---------------------------------------------------------------- our answers to questions for thought


@pytest.mark.parametrize(("days", "shown"), [(-1, True), (1, False), (None, False)])
def test_the_feedback_page_answers_the_questions_for_thought_after_the_due_date(
    days: int | None, shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "worked", lambda _: Worked(thoughts=[("Why `x`?", "So <i>that</i>.")]))
    entry = GradebookEntry.of(FULL)
    due = None if days is None else datetime.now(UTC) + timedelta(days=days)
    object.__setattr__(entry, "due", due)
    html = page_of(entry, tmp_path / "none.ipynb")
    assert ("Why <code>x</code>?" in html) == shown
    assert ("So &lt;i&gt;that&lt;/i&gt;." in html) == shown
    page = tmp_path / "page.html"
    page.write_text(html)
    assert is_current(page, entry)
    if shown:  # the date is put off: the page is made again
        object.__setattr__(entry, "due", datetime.now(UTC) + timedelta(days=2))
        assert not is_current(page, entry)


def test_a_page_that_is_not_graded_answers_nothing() -> None:
    from tests.report.class_of_grades import UNREADABLE

    assert "Why" not in feedback_page(GradebookEntry.of(UNREADABLE), thoughts=[("Why?", "So.")])


def test_the_solution_notebooks_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(pages.worked("1-attention").thoughts) == 5
