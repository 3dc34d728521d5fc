"""Feedback as Markdown, rendered by nbconvert as nbgrader and Jupyter do: foreign text stays text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

import nbformat
import pytest
from nbconvert.filters import markdown2html

from grader.records import CellScore, GradebookEntry, Written
from grader.report.markdown import code_block, escape, feedback_notebook
from tests.report.class_of_grades import ATTACKER, FAULT, MISTAKEN, PARTLY, STOPPED, UNREADABLE, grade

HARMLESS = {"p", "code", "pre", "h1", "h2", "strong", "ul", "li", "a", "div", "span"}


def tags(html: str) -> set[str]:
    return set(re.findall(r"<([a-z0-9]+)", html))


def rendered(entry: GradebookEntry) -> str:
    notebook = nbformat.reads(feedback_notebook(entry), as_version=4)
    nbformat.validate(notebook)
    assert {cell.cell_type for cell in notebook.cells} == {"markdown"}
    return "".join(markdown2html(cell.source) for cell in notebook.cells)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[me](https://example.org)",
        "![x](https://example.org/x.png)",
        "https://example.org and www.example.org",
        "# head",
        "- point",
        "1. point",
        "+ point",
        "*a* _b_ **c** ~~d~~",
        "$x^2$ &amp; &#60;",
        "a | b",
        "> quote",
        "\\[x\\]",
        "{{ x }} {% y %}",
        "======",
    ],
)
def test_text_stays_text(text: str) -> None:
    html = markdown2html(escape(text))
    assert tags(html) == {"p"}, html
    import html as entities

    assert entities.unescape(re.sub(r"<[^>]+>", "", html)).strip() == text


def test_what_stands_between_backticks_is_code() -> None:
    assert markdown2html(escape("use `a*b` and c*d*e")).strip() == "<p>use <code>a*b</code> and c*d*e</p>"


def test_nothing_in_a_block_of_code_ends_it() -> None:
    text = "x\n```\n<b>y</b>\n````\n# z"
    html = markdown2html(code_block(text))
    assert "<b>" not in html
    assert "<h1" not in html


def test_the_notebook_says_what_the_page_says() -> None:
    html = rendered(GradebookEntry.of(MISTAKEN))
    for words in (
        "85 of 100 points",
        "0 of 15",
        "off by 0.49, allowed 1e-05",
        "Divide the scores by √d_k.",
        "Read again",
    ):
        assert words in html
    assert "was never closed" in rendered(GradebookEntry.of(grade("s", (STOPPED,))))


def test_people_s_words_points_and_a_question_are_in_it() -> None:
    marked = replace(MISTAKEN, written=(Written(id="1.Q1", title="Why?", text="<b>So</b>"),))
    cells = {
        "1.4": CellScore(points=12.0, max_points=15.0, by_hand=True, comment="Look <again>."),
        "1.Q1": CellScore(points=None, max_points=4.0, needs_manual_grade=True),
    }
    html = rendered(replace(GradebookEntry.of(marked), cells=cells, score=97.0, penalty=3.0))
    assert "◐ 1.4" in unescape(html)  # the mark of the points that count, as on the page
    for words in ("12 of 15", "Look &lt;again&gt;.", "Your instructor set these points.", "needs manual grading"):
        assert words in html
    assert "3 points were subtracted" in html


def test_points_for_a_question_without_points_are_not_out_of_none() -> None:
    cells = {"1.Q1": CellScore(points=2.0, max_points=0.0, by_hand=True)}
    entry = GradebookEntry.of(replace(MISTAKEN, written=(Written(id="1.Q1", title="Why?", text="So"),)))
    assert "Why?: no points" in rendered(entry)
    assert "Why?: 2 points" in rendered(replace(entry, cells=cells))


DAMAGED = replace(UNREADABLE, message="not a notebook: <img src=x>.pdf", student="[a](b)")


@pytest.mark.parametrize("which", [ATTACKER, PARTLY, UNREADABLE, DAMAGED, FAULT], ids=lambda one: one.status)
def test_whatever_was_handed_in_the_notebook_holds_harmless_tags_alone(which) -> None:
    html = rendered(GradebookEntry.of(which))
    assert tags(html) <= HARMLESS, tags(html) - HARMLESS
    assert "javascript:" not in html
    assert "bwrap" not in html


def test_the_notebook_is_json_that_any_program_reads() -> None:
    assert json.loads(feedback_notebook(GradebookEntry.of(ATTACKER)))["nbformat"] == 4
