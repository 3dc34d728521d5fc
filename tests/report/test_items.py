"""Difficulty, discrimination and mistakes that come together: by hand, and against scipy."""

from __future__ import annotations

import csv
import io
import random
from dataclasses import replace

import pytest
import scipy

from grader.records import CheckResult, Grade, Outcome, Verdict
from grader.report.class_page import class_page
from grader.report.items import (
    COLUMNS,
    LEAST_STUDENTS,
    check_items,
    correlation,
    exercise_items,
    interval,
    items_csv,
    mistakes_together,
)
from tests.report.class_of_grades import entries
from tests.report.test_pages import Page


def verdict(id: str, points: float, worth: float = 4.0, *, passed: tuple[bool, ...] = (), hint: str = "") -> Verdict:
    """The verdict on an exercise; its checks take 0.25 s each."""
    checks = tuple(
        CheckResult(
            name=f"check {place}",
            title="it holds",
            outcome=Outcome.PASSED if right else Outcome.FAILED,
            points=0.0,
            max_points=1.0,
            seconds=0.25,
        )
        for place, right in enumerate(passed)
    )
    outcome = Outcome.PASSED if points == worth else Outcome.FAILED
    return Verdict(
        id=id, name="f", title="Scores", outcome=outcome, points=points, max_points=worth, checks=checks,
        hint=hint, diagnosis="relation" if hint else "",
    )  # fmt: skip


def a_class(*columns: list[float], size: int | None = None, **more) -> list[Grade]:
    """A class from the points of each exercise, one list for each."""
    return [
        Grade(
            student=f"s{place:03}",
            assignment="1-attention",
            status="graded",
            score=sum(points),
            max_score=100.0,
            verdicts=tuple(verdict(f"1.{number}", each, **more) for number, each in enumerate(points, 1)),
        )
        for place, points in enumerate(zip(*columns, strict=True))
    ]


# ---------------------------------------------------------------- correlation


def test_a_correlation_by_hand() -> None:
    """x: 0 0 1 1 (mean ½), y: 1 3 2 6 (mean 3): Σdxdy = 1+0−½+1½ = 2, Σdx² = 1, Σdy² = 4+0+1+9 = 14."""
    assert correlation([0, 0, 1, 1], [1, 3, 2, 6]) == pytest.approx(2 / 14**0.5)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_scipys_point_biserial_and_pearson(seed: int) -> None:
    chance = random.Random(seed)
    passed = [float(chance.random() < 0.6) for _ in range(53)]
    rest = [chance.gauss(60, 20) + 15 * one for one in passed]
    assert correlation(passed, rest) == pytest.approx(scipy.stats.pointbiserialr(passed, rest).statistic)
    assert correlation(rest, passed) == pytest.approx(scipy.stats.pearsonr(rest, passed).statistic)
    low, high = interval(correlation(passed, rest) or 0.0, 53)
    expected = scipy.stats.pearsonr(passed, rest).confidence_interval(0.95)
    assert (low, high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("xs", [[1.0] * 30, [1e9 / 3] * 30, [0.1 + 0.2, 0.3] * 15])
def test_without_variance_there_is_no_correlation(xs: list[float]) -> None:
    assert correlation(xs, [float(n) for n in range(30)]) is None
    assert correlation([float(n) for n in range(30)], xs) is None


def test_a_whole_correlation_has_no_interval_and_no_error() -> None:
    line = [float(n) for n in range(30)]
    assert correlation(line, line) == pytest.approx(1)
    assert interval(1.0, 30) == (1.0, 1.0)


# ---------------------------------------------------------------- items


def test_an_item_is_compared_with_the_rest_and_not_with_itself() -> None:
    chance = random.Random(3)
    first, second, third = ([chance.choice([0.0, 2.0, 4.0]) for _ in range(40)] for _ in range(3))
    grades = a_class(first, second, third)
    one = exercise_items(grades)[0]
    rest = [b + c for b, c in zip(second, third, strict=True)]
    total = [a + r for a, r in zip(first, rest, strict=True)]
    assert one.discrimination == pytest.approx(scipy.stats.pearsonr(first, rest).statistic)
    assert one.discrimination != pytest.approx(scipy.stats.pearsonr(first, total).statistic, abs=0.1)
    assert one.difficulty == pytest.approx(sum(first) / 40 / 4)
    assert (one.students, one.why_not, one.check) == (40, "", "")


def test_a_check_is_compared_with_the_other_exercises() -> None:
    chance = random.Random(4)
    rest = [chance.choice([0.0, 2.0, 4.0]) for _ in range(30)]
    passed = [chance.random() < 0.3 + points / 10 for points in rest]
    grades = [
        replace(grade, verdicts=(verdict("1.1", 4.0 * right, passed=(right, True)), grade.verdicts[1]))
        for right, grade in zip(passed, a_class([0.0] * 30, rest), strict=True)
    ]
    first, second = check_items(grades)
    assert first.discrimination == pytest.approx(scipy.stats.pointbiserialr(passed, rest).statistic)
    assert first.difficulty == pytest.approx(sum(passed) / 30)
    assert first.seconds == 0.25
    assert (second.discrimination, second.why_not, second.difficulty) == (None, "all have the same points", 1)
    assert exercise_items(grades)[0].seconds == 0.5


def test_a_small_class_says_that_it_is_small() -> None:
    points = [0.0, 4.0] * LEAST_STUDENTS
    small = exercise_items(a_class(points[: LEAST_STUDENTS - 1], points[: LEAST_STUDENTS - 1]))[0]
    assert (small.discrimination, small.interval) == (None, None)
    assert small.why_not == f"n = {LEAST_STUDENTS - 1} is too small"
    assert small.difficulty == pytest.approx(9 / 19)
    assert exercise_items(a_class(points[:LEAST_STUDENTS], points[:LEAST_STUDENTS]))[0].discrimination is not None


def test_what_does_not_vary_says_so() -> None:
    varied, same = [0.0, 4.0] * 15, [4.0] * 30
    one, other = exercise_items(a_class(varied, same))
    assert (one.discrimination, one.why_not) == (None, "all have the same points in the other exercises")
    assert (other.discrimination, other.why_not) == (None, "all have the same points")


def test_practice_and_faults_of_the_grader_are_no_items() -> None:
    practice = replace(verdict("1.P1", 0.0), max_points=0.0)
    fault = replace(verdict("1.2", 0.0), outcome=Outcome.FAULT)
    grades = [replace(grade, verdicts=(*grade.verdicts, practice, fault)) for grade in a_class([0.0, 4.0] * 15)]
    assert [item.exercise for item in exercise_items(grades)] == ["1.1"]
    assert exercise_items([]) == []


# ---------------------------------------------------------------- mistakes


def test_mistakes_that_come_together() -> None:
    """Of 20 students 4 make a and b, 1 makes a alone, 1 b alone: phi = (20·4 − 5·5) / √(5·15·5·15) = 55 / 75."""
    hints = [("a", "b")] * 4 + [("a", "")] + [("", "b")] + [("c", "d")] * 2 + [("", "")] * 12
    grades = [
        replace(grade, verdicts=(verdict("1.1", 0.0, hint=one), verdict("1.2", 0.0, hint=other)))
        for (one, other), grade in zip(hints, a_class([0.0] * 20), strict=True)
    ]
    (found,) = mistakes_together(grades)
    assert (found.first, found.second) == (("1.1", "a"), ("1.2", "b"))
    assert (found.both, found.counts) == (4, (5, 5))
    assert found.phi == pytest.approx(55 / 75)
    one, other = ([float(bool(hint[side]) and hint[side] in "ab") for hint in hints] for side in (0, 1))
    assert found.phi == pytest.approx(scipy.stats.pearsonr(one, other).statistic)


def test_mistakes_of_one_exercise_or_of_everybody_do_not_come_together() -> None:
    everybody = [
        replace(grade, verdicts=(verdict("1.1", 0.0, hint="a"), verdict("1.2", 0.0, hint="b")))
        for grade in a_class([0.0] * 20)
    ]
    assert mistakes_together(everybody) == []


# ---------------------------------------------------------------- as CSV, and on the page


def graded_class() -> list[Grade]:
    chance = random.Random(5)
    columns = [[chance.choice([0.0, 2.0, 4.0]) for _ in range(25)] for _ in range(2)]
    return a_class(*columns, passed=(True, False))


def test_the_csv_has_each_exercise_and_below_it_its_checks() -> None:
    rows = [*csv.DictReader(io.StringIO(items_csv(graded_class())))]
    assert tuple(rows[0]) == COLUMNS
    assert [(row["exercise"], row["check"]) for row in rows] == [
        ("1.1", ""), ("1.1", "check 0"), ("1.1", "check 1"), ("1.2", ""), ("1.2", "check 0"), ("1.2", "check 1"),
    ]  # fmt: skip
    assert float(rows[0]["discrimination"]) == pytest.approx(exercise_items(graded_class())[0].discrimination, abs=1e-4)
    assert float(rows[0]["low"]) < float(rows[0]["discrimination"]) < float(rows[0]["high"])
    assert (rows[1]["discrimination"], rows[1]["remark"]) == ("", "all have the same points")
    assert items_csv([]) == ",".join(COLUMNS) + "\n"


def test_the_class_page_has_the_items_and_the_checks_where_they_are_known() -> None:
    grades = graded_class()
    text = Page(class_page(entries(grades))).text
    assert "Items" in text
    assert f"{100 * exercise_items(grades)[0].difficulty:.0f} %" in text
    assert "Each check" in text
    assert "0.50 s" in text
    without = [replace(g, verdicts=tuple(replace(v, checks=()) for v in g.verdicts)) for g in grades]
    text = Page(class_page(entries(without))).text
    assert "Items" in text
    assert "Each check" not in text
    small = Page(class_page(entries(grades[:5]))).text
    assert "too small" not in small
    assert f"With {LEAST_STUDENTS} submissions or more, this table also shows" in small
