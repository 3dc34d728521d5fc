"""The HTML pages: complete in themselves, and nothing that a submission says is code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from grader import __version__
from grader.records import CellScore, CheckResult, Grade, GradebookEntry, Outcome, Student, Verdict, Written
from grader.report.class_page import class_page
from grader.report.page import feedback_page
from tests.report.class_of_grades import (
    ATTACKER,
    CLASS,
    FAULT,
    FULL,
    MISTAKEN,
    PARTLY,
    STOPPED,
    UNREADABLE,
    UNTOUCHED,
    entries,
    grade,
    unscaled,
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


def page_of(grade: Grade) -> str:
    return feedback_page(GradebookEntry.of(grade))


def page_of_class(grades: Iterable[Grade]) -> str:
    return class_page(entries(grades))


@pytest.fixture(params=[*CLASS, CLASS], ids=[*(f"page-{i}" for i in range(len(CLASS))), "class"])
def html(request) -> str:
    return page_of_class(request.param) if isinstance(request.param, tuple) else page_of(request.param)


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
    for html in (page_of(MISTAKEN), page_of_class(CLASS)):
        pictures = [attributes for tag, attributes in Page(html).tags if tag == "svg"]
        assert pictures
        assert all("aria-label" in one or one.get("aria-hidden") == "true" for one in pictures)


# ---------------------------------------------------------------- feedback


def test_hostile_text_is_shown_as_text():
    page = Page(page_of(ATTACKER))
    assert "<script>alert('x')</script><img src=x onerror=alert(1)>[bold]{{7*7}}" in page.text
    assert "49" not in page.text  # no template is run
    assert "\x1b" not in page_of(ATTACKER)
    assert "\u202e" not in page_of(ATTACKER)


def test_a_recognised_mistake_is_told_with_what_to_do_and_read():
    text = Page(page_of(MISTAKEN)).text
    assert "85 of 100 points" in text
    assert "8 of 9 exercises have full points" in text
    assert "✗ 1.4 · Attention 0 of 15" in text
    assert text.count("5 queries, 7 keys, d_k = 3: weights: off by 0.49, allowed 1e-05") == 1
    assert "Likely cause: Divide the scores by √d_k." in text
    assert "Read again: “Why √d_k” in the lesson." in text
    assert "(0 of 9, tried on 2 inputs)" in text
    assert "passed, but gives points only if the values are right" in text


def test_the_exercises_with_full_points_are_counted_in_good_english():
    def begins(*verdicts: Verdict) -> str:
        return Page(page_of(replace(MISTAKEN, verdicts=verdicts))).text

    wrong, right = unscaled(), FULL.verdicts[0]
    assert "The exercise does not have full points yet: this page shows" in begins(wrong)
    assert "1 of 2 exercises has full points. For each of the others, this page shows" in begins(wrong, right)
    assert "0 of 2 exercises have full points." in begins(wrong, replace(wrong, id="1.5"))
    cells = {"1.4": CellScore(points=15.0, max_points=15.0, by_hand=True)}
    entry = replace(GradebookEntry.of(replace(MISTAKEN, verdicts=(wrong,))), cells=cells)
    assert "The exercise has full points: this page shows" in Page(feedback_page(entry)).text


def test_the_maps_stand_side_by_side_on_one_scale():
    html = page_of(MISTAKEN)
    labels = [
        attributes["aria-label"] for tag, attributes in Page(html).tags if tag == "svg" and "aria-label" in attributes
    ]
    assert labels == [
        "Map yours: 2 queries by 3 keys",
        "Map reference: 2 queries by 3 keys",
        "Map yours − reference: 2 queries by 3 keys",
    ]
    scales = re.findall(r"<span>([^<]+)</span><svg class=\"bar\".*?</svg><span>([^<]+)</span>", html)
    assert scales == [("0", "0.9"), ("0", "0.9"), ("−0.9", "0.9")]
    assert "They differ most at query 1, key 1: yours gives it 0.3 more than the reference." in Page(html).text


def test_notes_partial_points_and_messages_without_checks():
    text = Page(page_of(PARTLY)).text
    assert "◐ 1.5 · Masks 9 of 15 causal_mask, padding_mask : part of the points padding_mask is not defined" in text
    assert "Note: two cells define SelfAttention; the last one counted" in text
    assert "it did not answer within 20 s" in text


def test_full_marks_nothing_done_unreadable_and_fault_each_have_their_words():
    assert "Everything works" in Page(page_of(FULL)).text
    assert "Nothing is solved yet" in Page(page_of(UNTOUCHED)).text
    unreadable = Page(page_of(UNREADABLE)).text
    assert UNREADABLE.message in unreadable
    assert "0 points until you submit another one" in unreadable
    fault = Page(page_of(FAULT)).text
    assert "because of a grader error. You lose no points." in fault
    assert "bwrap" not in fault
    assert "0 of" not in fault


def test_a_fault_within_an_exercise_shows_nothing_of_our_insides():
    inside = "the grader could not judge this (KeyError: 'hidden')"
    broken = CheckResult(
        name="values", title="values", outcome=Outcome.FAULT, points=0.0, max_points=5.0, message=inside
    )
    faulty = verdict(0, 0.0, Outcome.FAULT, message=inside, checks=(broken,))
    text = Page(page_of(grade("s1", (faulty,)))).text
    assert "KeyError" not in text
    assert "This exercise could not be graded because of a grader error" in text


def test_each_page_is_stamped():
    text = Page(page_of(MISTAKEN)).text
    for word in ("0f3a" * 16, "isolation full", "device cpu", f"grader {__version__}", "time 1.2 s"):
        assert word in text


def test_practice_has_no_points():
    practice = replace(verdict(0, 0.0), id="1.P1", max_points=0.0)
    assert "1.P1 · Dot-product scores practice" in Page(page_of(grade("s1", (practice,)))).text


# ---------------------------------------------------------------- the class


def test_the_class_page_counts_right():
    html = page_of_class(CLASS)
    text = Page(html).text
    assert "7 submissions: 5 graded, 1 unreadable, 1 fault; mean 49.8, median 64 of 100 (over the graded)" in text
    assert "49.8 mean 64 median 1 with full points" in text
    # 0 and 0; 64; 85; 100: the last bin holds full marks
    assert "Distribution of 5 scores from 0 to 100: 2, 0, 0, 0, 0, 0, 1, 0, 1, 1" in html
    # 1.4 is right in two of four, 1.1 in three of five
    assert "1.1 60 %" in html
    assert "1.4 50 %" in html
    assert "<title>1 of 4: out of time</title>" in html


def test_the_class_page_names_mistakes_problems_and_flags():
    text = Page(page_of_class([*CLASS, replace(MISTAKEN, student="s0999")])).text
    assert "1.4 unscaled Divide the scores by √d_k. 2" in text
    assert text.index("1.4 unscaled") < text.index("1.8 keys_from_text")
    assert "s0008 fault the sandbox did not start: bwrap not found" in text
    assert "josé uses-builtin 1.4 F.scaled_dot_product_attention" in text
    assert "3 more wrong or incomplete answers have no explanation: 1.1 (1), 1.5 (1), 1.9 (1)." in text
    assert "not declared" not in text
    assert "All 8 submissions" in text


def test_the_class_page_links_names_mistakes_and_flags_to_the_pages():
    """A mistake and a flag lead to their exercise on the student's page, and each page has these places."""
    whole = Page(class_page(entries(CLASS), pages="../{student}/{assignment}.html"))
    links = [attributes["href"] for tag, attributes in whole.tags if tag == "a"]
    assert "../s0417/1-attention.html" in links  # in the list of all
    assert "../s0417/1-attention.html#1.4" in links  # who made the mistake
    assert "../jos%C3%A9/1-attention.html#1.4" in links  # who has the flag
    places = {attributes.get("id") for _, attributes in Page(page_of(MISTAKEN)).tags}
    assert {verdict.id for verdict in MISTAKEN.verdicts} <= places
    assert not [tag for tag, _ in Page(page_of_class(CLASS)).tags if tag == "a"]


def test_the_class_page_counts_one_answer_without_an_explanation_in_the_singular():
    text = Page(page_of_class([replace(MISTAKEN, verdicts=(explained("", ""),))])).text
    assert "1 more wrong or incomplete answer has no explanation: 1.4 (1)." in text


def test_the_class_page_does_not_say_that_a_cell_which_stopped_has_no_explanation():
    text = Page(page_of_class([grade("s", (STOPPED,))])).text
    assert "no explanation" not in text
    assert "1 more answer stops with an error before anything is tried: 1.4 (1)." in text


def test_the_class_page_shows_diagnoses_that_no_mistake_was_declared_for():
    """Three answers are told the same, two of them on other lines; a stored grade without `diagnosis` counts, too."""
    says = "Every number is √d_k times too large. Line {}, `scores = query @ key.mT`: this is too large."
    told = [
        replace(MISTAKEN, student=f"s{line}", verdicts=(explained(says.format(line), "relation"),))
        for line in (3, 4, 11)
    ]
    elsewhere = replace(MISTAKEN, verdicts=(explained("Line 7, `x`: without this line it is right.", "repair"),))
    html = page_of_class([*told, elsewhere, MISTAKEN])
    text = Page(html).text
    assert "1.4 not declared (relation) Every number is √d_k times too large. 3" in text
    assert "1.4 not declared (repair) Line …, x : without this line it is right. 1" in text
    assert "1.4 unscaled Divide the scores by √d_k. 1" in text
    assert text.index("(relation)") < text.index("(repair)")
    assert "you can declare it with your own hint" in text
    assert "no explanation" not in text


def explained(hint: str, kind: str) -> Verdict:
    """1.4, wrong, and explained without a declared mistake."""
    return replace(unscaled(), mistake=None, hint=hint, diagnosis=kind)


def test_a_title_with_markup_is_text_in_the_plots_too():
    title = 'A < B & "C"'
    renamed = replace(FULL, verdicts=(replace(FULL.verdicts[0], title=title, id='1.1"><i'),))
    page = Page(page_of_class([renamed]))
    assert "i" not in {tag for tag, _ in page.tags}
    assert f'1.1"><i {title}' in page.text


def test_each_assignment_has_its_section():
    other = replace(FULL, assignment="2-heads")
    headings = re.findall(r"<h2>(.*?)</h2>", page_of_class([other, *CLASS]))
    assert headings == ["1-attention", "2-heads"]


def test_an_empty_class_and_one_without_grades():
    assert "0 submissions" in Page(page_of_class([])).text
    text = Page(page_of_class([FAULT, UNREADABLE])).text
    assert "2 submissions: 1 unreadable, 1 fault" in text


def by_people(**more) -> GradebookEntry:
    """MISTAKEN after a person gave points for 1.1, wrote a comment there and one in a cell of their own."""
    cells = {
        "1.1": CellScore(points=6.0, max_points=5.0, by_hand=True, comment="Well argued."),
        "1.4": CellScore(points=0.0, max_points=15.0),
        "essay": CellScore(points=None, max_points=10.0, needs_manual_grade=True, comment="By Friday."),
    }
    entry = GradebookEntry.of(MISTAKEN)
    ada = Student(id="s0417", first_name="Ada", last_name="Lovelace")
    return replace(entry, **{"student": ada, "score": 76.0, "max_score": 110.0, "cells": cells, **more})


def test_points_comments_and_penalty_of_people_are_on_the_page():
    text = Page(feedback_page(by_people(penalty=10.0))).text
    for said in (
        "76 of 110 points",
        "The submission was late: 10 points were subtracted.",
        "Ada Lovelace (s0417)",
        "6 of 5",
        "Your instructor set these points. The autograder gave 5.",
        "Your instructor writes: Well argued.",
        "essay needs manual grading",
        "Your instructor writes: By Friday.",
    ):
        assert said in text, said


@pytest.mark.parametrize(("points", "says"), [(0.0, "no points"), (3.0, "part of the points"), (15.0, "full points")])
def test_the_mark_of_an_exercise_is_that_of_the_points_which_count(points: float, says: str):
    """The autograder gave 1.4 nothing; a person did."""
    cell = CellScore(points=points, max_points=15.0, by_hand=True)
    section = re.search(r"<h2>1\.4.*?</section>", feedback_page(by_people(cells={"1.4": cell})), re.DOTALL)
    assert f"<code>attention</code>: {says}" in section[0]


@pytest.mark.parametrize(("points", "says"), [(0.0, "no points"), (3.0, "part of the points"), (15.0, "full points")])
def test_the_class_page_marks_the_points_which_count(points: float, says: str):
    cell = CellScore(points=points, max_points=15.0, by_hand=True)
    assert f'title="1.4: {says}"' in class_page([by_people(cells={"1.4": cell})])


@pytest.mark.parametrize(("points", "says"), [(2.0, "2 points"), (1.0, "1 point")])
def test_points_for_a_question_without_points_are_not_out_of_none(points: float, says: str):
    cell = CellScore(points=points, max_points=0.0, by_hand=True)
    written = (Written(id="1.Q1", title="Why three?", text="So."),)
    entry = GradebookEntry.of(replace(MISTAKEN, written=written))
    assert "1.Q1 · Why three? no points You wrote:" in Page(feedback_page(entry)).text
    assert f"1.Q1 · Why three? {says} You wrote:" in Page(feedback_page(replace(entry, cells={"1.Q1": cell}))).text


@pytest.mark.parametrize("late", [{"penalty": 0.0, "seconds_late": 1.0}, {"penalty": 0.0, "seconds_late": 0.0}])
def test_a_late_submission_is_marked_where_lateness_costs_nothing(late: dict[str, float]):
    entry, is_late = by_people(**late), late["seconds_late"] > 0
    assert ("The submission was late: no points were subtracted." in Page(feedback_page(entry)).text) is is_late
    assert ("(late)" in Page(class_page([entry])).text) is is_late


def test_a_person_who_handed_in_one_of_two_assignments_is_not_missing_in_the_class():
    nothing = Grade(student="s0001", assignment="4-modern", status="missing", score=None, max_score=100.0)
    nobody = [replace(nothing, student="s9"), replace(nothing, student="s9", assignment="1-attention")]
    head = Page(class_page([*entries([FULL]), *map(GradebookEntry.of, (nothing, *nobody))])).text.partition("4-modern")[
        0
    ]
    assert "1 submission: 1 graded; mean 100, median 100 of 100; 1 submitted nothing" in head


def test_a_comment_of_several_lines_keeps_them():
    cell = CellScore(points=6.0, max_points=5.0, comment="First <b>line</b>.\r\nSecond.\x1b")
    html = feedback_page(by_people(cells={"1.1": cell}))
    assert "First &lt;b&gt;line&lt;/b&gt;.\nSecond.\N{REPLACEMENT CHARACTER}" in html
    assert "white-space: pre-line" in html


@pytest.mark.parametrize("withheld", [FAULT, UNREADABLE])
def test_points_and_comments_of_people_are_on_a_page_without_exercises(withheld):
    cells = {
        "1.1": CellScore(points=4.0, max_points=5.0, by_hand=True, comment="Shown to me on paper."),
        "1.2": CellScore(points=None, max_points=5.0, comment="See me."),
        "1.4": CellScore(points=0.0, max_points=15.0),
    }
    text = Page(feedback_page(replace(GradebookEntry.of(withheld), score=4.0, cells=cells))).text
    assert "1.1 4 of 5 Your instructor writes: Shown to me on paper." in text
    assert "Your instructor writes: See me." in text
    assert "of 15" not in text


def test_points_of_an_earlier_version_are_said_to_be_so():
    cell = CellScore(points=6.0, max_points=5.0, by_hand=True, needs_manual_grade=True)
    text = Page(feedback_page(by_people(cells={"1.1": cell}))).text
    assert "for an earlier submission and has not checked this one yet. The autograder gives this one 5" in text


def test_a_fault_after_a_graded_version_shows_that_version():
    text = Page(feedback_page(by_people(fault="no sandbox"))).text
    assert "Your newest submission could not be graded" in text
    assert "Divide the scores by" in text
    assert "no sandbox" not in text


def test_the_class_page_says_whose_score_is_of_the_version_before():
    earlier, by_hand = by_people(fault="no sandbox"), replace(GradebookEntry.of(FAULT), score=4.0)
    assert "no sandbox The score of the earlier submission is kept." in Page(class_page([earlier])).text
    text = Page(class_page([by_hand])).text
    assert "earlier submission" not in text
    assert "It has manual points." in text


def test_the_class_page_says_who_waits_and_who_handed_in_nothing():
    nothing = Grade(student="s5", assignment="1-attention", status="missing", score=None, max_score=100.0)
    also = replace(nothing, student="s6")
    assert "No submission s5, s6" in Page(class_page([GradebookEntry.of(nothing), GradebookEntry.of(also)])).text
    text = Page(class_page([by_people(), GradebookEntry.of(nothing)])).text
    assert "1 submission: 1 graded; mean 76, median 76 of 110; 1 submitted nothing" in text
    assert "Needs manual grading" in text
    assert "s0417 Ada Lovelace essay" in text
    assert "No submission s5" in text


def test_the_class_page_says_which_flags_cost_points():
    assert "uses-builtin has already set its exercise to 0 points" in Page(page_of_class([PARTLY])).text
    other = replace(PARTLY, flags=(replace(PARTLY.flags[0], kind="ran-on-cpu"),))
    assert "No flag here has cost points" in Page(page_of_class([other])).text


def test_an_exercise_whose_cell_stopped_has_one_message_and_the_lines_around_it():
    html = page_of(grade("s0009", (STOPPED,)))
    assert Page(html).text.count("SyntaxError: '(' was never closed") == 1
    shown = re.search(r'<pre class="excerpt"[^>]*>(.*?)</pre>', html, re.S)[1]
    assert "<code>def attention(query, (key):</code>: SyntaxError" in html
    assert shown.split("\n") == STOPPED.excerpt.split("\n")
    fault = page_of(grade("s0009", (replace(STOPPED, outcome=Outcome.FAULT),)))
    assert "<pre" not in fault


def test_a_message_that_a_check_above_has_is_not_repeated():
    first = unscaled().checks[0]
    checks = (first, replace(first, name="again", title="once more"), replace(first, message="another"))
    html = page_of(grade("s0009", (replace(unscaled(), checks=checks),)))
    assert Page(html).text.count(first.message) == 1
    assert "once more (0 of 9, tried on 2 inputs) the same" in Page(html).text
