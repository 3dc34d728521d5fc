"""The page with similar answers side by side: complete in itself, its text escaped, of bounded size."""

from __future__ import annotations

from dataclasses import replace

from grader.records import Student
from grader.report.similar import MOST_LINES, MOST_PAIRS, by_students, remark, similar_page
from grader.report.similarity.pairs import ComparedExercise, Comparison, Pair
from tests.report.class_of_grades import HOSTILE
from tests.report.test_pages import Page


def pair(first: str, second: str, rare: float = 5.0) -> Pair:
    lines = (frozenset({2}), frozenset({1}))
    return Pair(students=(first, second), rare=rare, share=0.625, lines=lines)


def compared(id: str, *pairs: Pair, source: str = "def f(x):\n    return x") -> ComparedExercise:
    named = {student for each in pairs for student in each.students}
    return ComparedExercise(
        assignment="1-attention",
        id=id,
        title="Scores",
        comparison=Comparison(answers=30, telling=20, pairs=pairs),
        left_out=("s9",),
        sources=dict.fromkeys(named, source),
    )


def test_both_answers_stand_side_by_side_with_the_lines_that_both_have() -> None:
    html = similar_page(
        [compared("1.1", pair("ann", "bob"))], {"ann": Student(id="ann", first_name="Ann", last_name="Lee")}
    )
    page = Page(html)
    assert "ann Ann Lee and bob" in page.text
    assert "they share 62 % of the rare code" in page.text
    assert html.count('<span class="both">    return x') == 1
    assert html.count('<span class="both">def f(x):') == 1
    assert "not a proof" in page.text
    assert "too long or nested too deeply: s9" in page.text


def test_code_is_shown_as_text_and_cut() -> None:
    html = similar_page([compared("1.1", pair("a", HOSTILE), source=HOSTILE + "\nx" * 1_000)], {})
    page = Page(html)
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert f"… {1_001 - MOST_LINES} more lines" in page.text
    assert html.count("<span") < 2 * MOST_LINES + 20
    assert "\x1b" not in html


def test_students_who_agree_in_more_exercises_come_first_and_a_page_has_an_end() -> None:
    two = [compared("1.1", pair("a", "b", 4), pair("c", "d", 50)), compared("1.2", pair("a", "b", 4))]
    assert [both.students for both in by_students(two)] == [("a", "b"), ("c", "d")]
    many = [pair(f"s{n}", f"t{n}") for n in range(MOST_PAIRS + 7)]
    html = similar_page([compared("1.1", *many)], {})
    assert html.count("<details") == MOST_PAIRS
    assert "7 more pairs of students" in html


def test_a_remark_says_where_nothing_can_be_told() -> None:
    one = compared("1.1")
    assert remark(one) == ""
    assert "too" not in remark(one)
    assert remark(replace(one, comparison=Comparison(answers=30, telling=1, pairs=()))).startswith(
        "the answers are too alike"
    )
    assert remark(replace(one, comparison=Comparison(answers=7, telling=0, pairs=()))).startswith(
        "fewer than 10 answers"
    )
    assert "No two answers" in similar_page([one], {})


def test_a_class_that_is_too_small_is_not_said_to_share_nothing() -> None:
    few = replace(compared("1.1"), comparison=Comparison(answers=9, telling=0, pairs=()))
    assert "Nothing was compared: no exercise has 10 answers." in similar_page([few, few], {})
    assert "No two answers" in similar_page([few, compared("1.2")], {})
