"""The HTML pages: complete in themselves, and nothing that a submission says is code."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from grader.records import CheckResult, Outcome
from grader.report.class_page import class_page
from grader.report.page import feedback_page
from tests.report.class_of_grades import (
    ATTACKER,
    CLASS,
    FAULT,
    FULL,
    MISTAKEN,
    PARTLY,
    UNREADABLE,
    UNTOUCHED,
    grade,
    verdict,
)

VOID = {"meta", "br", "img", "hr", "link", "input"}


class Page(HTMLParser):
    """A page read strictly: every element is closed, and its text and attributes are kept."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(params=[*CLASS, CLASS], ids=[*(f"page-{i}" for i in range(len(CLASS))), "class"])
def html(request) -> str:
    return class_page(request.param) if isinstance(request.param, tuple) else feedback_page(request.param)


def test_a_page_needs_nothing_else_and_runs_nothing(html: str):
    page = Page(html)
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    for tag, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(r"url\(|@import|https?://", html)
    html.encode("utf-8")


def test_pages_are_readable_on_a_phone_in_the_dark_and_on_paper(html: str):
    assert 'name="viewport"' in html
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    assert '<html lang="en">' in html
    assert "default-src 'none'" in html


def test_every_figure_has_words():
    for html in (feedback_page(MISTAKEN), class_page(CLASS)):
        pictures = [attributes for tag, attributes in Page(html).tags if tag == "svg"]
        assert pictures
        assert all("aria-label" in one or one.get("aria-hidden") == "true" for one in pictures)


# ---------------------------------------------------------------- feedback


def test_hostile_text_is_shown_as_text():
    page = Page(feedback_page(ATTACKER))
    assert "<script>alert('x')</script><img src=x onerror=alert(1)>[bold]{{7*7}}" in page.text
    assert "49" not in page.text  # no template is run
    assert "\x1b" not in feedback_page(ATTACKER)
    assert "\u202e" not in feedback_page(ATTACKER)


def test_a_recognised_mistake_is_told_with_what_to_do_and_read():
    text = Page(feedback_page(MISTAKEN)).text
    assert "85 of 100 points" in text
    assert "8 of 9 exercises have full points" in text
    assert "✗ 1.4 · Attention 0 of 15" in text
    assert text.count("5 queries, 7 keys, d_k = 3: weights: off by 0.49, allowed 1e-05") == 1
    assert "What it looks like: Divide the scores by √d_k." in text
    assert "Read again: “Why √d_k” in the lesson." in text
    assert "(0 of 9, tried on 2 inputs)" in text
    assert "this holds, and counts as soon as the values are right" in text


def test_the_maps_stand_side_by_side_on_one_scale():
    html = feedback_page(MISTAKEN)
    labels = [attributes["aria-label"] for tag, attributes in Page(html).tags if "aria-label" in attributes]
    assert labels == [
        "Map yours: 2 queries by 3 keys",
        "Map reference: 2 queries by 3 keys",
        "Map yours − reference: 2 queries by 3 keys",
    ]
    scales = re.findall(r"<span>([^<]+)</span><svg class=\"bar\".*?</svg><span>([^<]+)</span>", html)
    assert scales == [("0", "0.9"), ("0", "0.9"), ("−0.9", "0.9")]
    assert (
        "They differ most at query 1, key 1: yours gives it 0.3 more than the reference." in Page(html).text
    )


def test_notes_partial_points_and_messages_without_checks():
    text = Page(feedback_page(PARTLY)).text
    assert (
        "◐ 1.5 · Masks 9 of 15 causal_mask, padding_mask : part of the points padding_mask is not defined"
        in text
    )
    assert "Note: two cells define SelfAttention; the last one counted" in text
    assert "it did not answer within 20 s" in text


def test_full_marks_nothing_done_unreadable_and_fault_each_have_their_words():
    assert "Everything works" in Page(feedback_page(FULL)).text
    assert "Nothing is solved yet" in Page(feedback_page(UNTOUCHED)).text
    unreadable = Page(feedback_page(UNREADABLE)).text
    assert UNREADABLE.message in unreadable
    assert "0 points until you hand in another one" in unreadable
    fault = Page(feedback_page(FAULT)).text
    assert "The fault is ours and costs you nothing" in fault
    assert "bwrap" not in fault
    assert "0 of" not in fault


def test_a_fault_within_an_exercise_shows_nothing_of_our_insides():
    inside = "the grader could not judge this (KeyError: 'hidden')"
    broken = CheckResult(
        name="values", title="values", outcome=Outcome.FAULT, points=0.0, max_points=5.0, message=inside
    )
    faulty = verdict(0, 0.0, Outcome.FAULT, message=inside, checks=(broken,))
    text = Page(feedback_page(grade("s1", (faulty,)))).text
    assert "KeyError" not in text
    assert "This exercise could not be graded. The fault is ours" in text


def test_each_page_is_stamped():
    text = Page(feedback_page(MISTAKEN)).text
    for word in ("0f3a" * 16, "isolation full", "device cpu", "grader 0.1.0", "time 1.2 s"):
        assert word in text


def test_practice_has_no_points():
    practice = replace(verdict(0, 0.0), id="1.P1", max_points=0.0)
    assert "1.P1 · Dot-product scores practice" in Page(feedback_page(grade("s1", (practice,)))).text


# ---------------------------------------------------------------- the class


def test_the_class_page_counts_right():
    html = class_page(CLASS)
    text = Page(html).text
    assert "7 submissions: 5 graded, 1 unreadable, 1 fault; mean 49.8, median 64 of 100" in text
    assert "49.8 mean 64 median 1 with full marks" in text
    # 0 and 0; 64; 85; 100: the last bin holds full marks
    assert "Distribution of 5 scores from 0 to 100: 2, 0, 0, 0, 0, 0, 1, 0, 1, 1" in html
    # 1.4 is right in two of four, 1.1 in three of five
    assert "1.1 60 %" in html
    assert "1.4 50 %" in html
    assert "<title>1 of 4: out of time</title>" in html


def test_the_class_page_names_mistakes_problems_and_flags():
    text = Page(class_page([*CLASS, replace(MISTAKEN, student="s0999")])).text
    assert "1.4 unscaled Divide the scores by √d_k. 2" in text
    assert text.index("1.4 unscaled") < text.index("1.8 keys_from_text")
    assert "s0008 fault the sandbox did not start: bwrap not found" in text
    assert "josé uses-builtin 1.4 F.scaled_dot_product_attention" in text
    assert "3 more wrong or incomplete answers look like no declared mistake." in text
    assert "All 8 submissions" in text


def test_a_title_with_markup_is_text_in_the_plots_too():
    title = 'A < B & "C"'
    renamed = replace(FULL, verdicts=(replace(FULL.verdicts[0], title=title, id='1.1"><i'),))
    page = Page(class_page([renamed]))
    assert "i" not in {tag for tag, _ in page.tags}
    assert f'1.1"><i {title}' in page.text


def test_each_assignment_has_its_section():
    other = replace(FULL, assignment="2-heads")
    headings = re.findall(r"<h2>(.*?)</h2>", class_page([other, *CLASS]))
    assert headings == ["1-attention", "2-heads"]


def test_an_empty_class_and_one_without_grades():
    assert "0 submissions" in Page(class_page([])).text
    text = Page(class_page([FAULT, UNREADABLE])).text
    assert "2 submissions: 1 unreadable, 1 fault" in text
