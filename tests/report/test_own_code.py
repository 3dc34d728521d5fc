"""The student's answer stands beside the verdict, with the line marked that the message is about."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from grader.judge.raised import excerpt
from grader.records import GradebookEntry, Outcome
from grader.report.page import MOST_LINES, feedback_page, own_code
from tests.report.class_of_grades import FULL, HOSTILE, STOPPED, grade, unscaled
from tests.report.test_pages import Page

SOURCE = "# @exercise 1.4\ndef attention(query, (key):\n    return query\n"


def marked(source: str, line: int, column: int = 0) -> list[tuple[int, str]]:
    """The numbers and texts of the lines that are marked for an excerpt, as the grader cuts it."""
    code = own_code(replace(STOPPED, excerpt=excerpt(source, line, column)), source)
    return [(number, str(text)) for number, text, is_marked in code.lines if is_marked]


@pytest.mark.parametrize("column", [0, 1, 22])
def test_the_line_of_the_excerpt_is_marked(column: int) -> None:
    assert marked(SOURCE, 2, column) == [(2, "def attention(query, (key):")]


def test_the_caret_stands_below_its_character() -> None:
    code = own_code(replace(STOPPED, excerpt=excerpt(SOURCE, 2, 22)), SOURCE)
    assert code.lines[1][1][code.caret.index("^")] == "("


@pytest.mark.parametrize(
    "line", ["\treturn query", "    return " + "query + " * 40 + "query", "    return 'ü' \x1b[31m", "x = 1 < 2"]
)
def test_a_line_that_the_excerpt_cuts_or_changes_is_known_again(line: str) -> None:
    source = f"def f():\n{line}\n"
    for column in (0, 1, len(line)):
        assert [number for number, _ in marked(source, 2, column)] == [2], column


def test_an_excerpt_of_another_cell_marks_nothing() -> None:
    other = replace(STOPPED, excerpt=excerpt("a = 1\nb = (2\n", 2, 5))
    code = own_code(other, SOURCE)
    assert not code.is_marked
    assert code.caret == ""
    html = feedback_page(GradebookEntry.of(grade("s1", (other,))), {}, {"1.4": SOURCE})
    assert "b = (2" in html, "the excerpt stays where the answer does not show the line"


def test_the_page_shows_the_answer_once_with_its_line() -> None:
    html = feedback_page(GradebookEntry.of(grade("s1", (STOPPED,))), {}, {"1.4": SOURCE})
    text = Page(html).text
    assert "Your answer" in text
    assert text.count("def attention(query, (key):") == 2  # in the message, and in the answer
    assert re.search(r'class="line marked"><span class="number">→ 2</span>def attention\(query, \(key\):', html)


def test_only_wrong_answers_are_shown() -> None:
    sources = {verdict.id: SOURCE for verdict in FULL.verdicts}
    assert "Your answer" not in feedback_page(GradebookEntry.of(FULL), {}, sources)
    for outcome in (Outcome.MISSING, Outcome.FAULT):
        page = feedback_page(GradebookEntry.of(grade("s1", (replace(STOPPED, outcome=outcome),))), {}, sources)
        assert "Your answer" not in page
    wrong = grade("s1", (unscaled(),))
    assert "Your answer" in feedback_page(GradebookEntry.of(wrong), {}, sources)
    assert "Your answer" not in feedback_page(GradebookEntry.of(wrong), {}, {"1.4": " \n"})


def test_a_hostile_answer_is_text_and_has_an_end() -> None:
    source = f"{HOSTILE}\n" + "x = 1\n" * 5_000 + "y" * 100_000
    html = feedback_page(GradebookEntry.of(grade("s1", (unscaled(),))), {}, {"1.4": source})
    page = Page(html)
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert "\x1b" not in html
    assert f"… {5_002 - MOST_LINES} more lines" in page.text
    assert len(html) < 60_000


@pytest.mark.parametrize("text", ["→ 99999999999999999999 │ x", "→ 0 │ x", "→ 2 │ …", "→ 2 │ "])
def test_a_forged_excerpt_marks_nothing(text: str) -> None:
    assert not own_code(replace(STOPPED, excerpt=text), SOURCE).is_marked
