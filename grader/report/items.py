"""Analyses an assignment: the difficulty and discrimination of its items, co-occurring mistakes.

An item is an exercise, or one check of it. Its *difficulty* is the mean share of its points. Its
*discrimination* is the correlation of its points with the rest score, which is the points of all
other exercises, so that an item is not compared with itself. For a check, which passes or fails,
this is the point-biserial correlation. Points are the automatic ones, without manual changes.
"""

import csv
import io
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import atanh, isclose, sqrt, tanh
from statistics import fmean, median

from grader.records import CheckResult, Grade, Outcome, Verdict
from grader.report.text import by_number, said_once

PLACE = re.compile(r"\b([Ll]ine) \d+")
SENTENCE_OF_PLACE = re.compile(r"(?<=[.!?:]) [Ll]ine \d+\b.*", re.S)

LEAST_STUDENTS = 20  # for a discrimination: with fewer its 95 % interval is wider than ±0.45
LEAST_TOGETHER = 3  # students with both mistakes
NORMAL_95 = 1.959964  # the normal distribution holds 95 % within so many standard deviations


@dataclass(frozen=True, kw_only=True)
class Item:
    """One exercise or check, with its statistics over all graded submissions of an assignment."""

    exercise: str
    check: str  # "" for the exercise as a whole
    title: str
    students: int
    difficulty: float  # 0…1; 1 is the easiest
    discrimination: float | None  # −1…1; None if it has no meaning, for the reason in `why_not`
    interval: tuple[float, float] | None  # of the discrimination, 95 %
    why_not: str
    seconds: float | None  # median time of its trials; None if it was not recorded


@dataclass(frozen=True, kw_only=True)
class Together:
    """Two mistakes in two exercises that often occur in the same submission."""

    first: tuple[str, str]  # the exercise, and the explanation that students read
    second: tuple[str, str]
    both: int
    counts: tuple[int, int]  # students who make the first mistake, and the second
    phi: float  # the correlation of the two, −1…1


def exercise_items(grades: Sequence[Grade]) -> list[Item]:
    """Return the statistics of an assignment's exercises that have points.

    Args:
        grades: the grades with the status "graded".
    """
    return _items(grades, lambda verdict: [("", verdict.title, _share(verdict), _seconds(verdict.checks))])


def check_items(grades: Sequence[Grade]) -> list[Item]:
    """Return the statistics of an assignment's checks. Grades without checks contribute nothing."""
    return _items(
        grades,
        lambda verdict: [
            (check.name, check.title, float(check.outcome is Outcome.PASSED), _seconds([check]))
            for check in verdict.checks
        ],
    )


Found = tuple[str, str, float, float | None]  # check, title, share, seconds


def _items(grades: Sequence[Grade], found_in: Callable[[Verdict], Iterable[Found]]) -> list[Item]:
    """Return the statistics of the items that `found_in` finds in each verdict of a class.

    Leave out exercises without points, and exercises that a grader error left without a result.
    """
    rows: dict[tuple[str, str], list[tuple[float, float, float | None]]] = {}
    titles: dict[tuple[str, str], str] = {}
    for grade in grades:
        total = sum(verdict.points for verdict in grade.verdicts)
        for verdict in grade.verdicts:
            if verdict.max_points and verdict.outcome is not Outcome.FAULT:
                for check, title, share, seconds in found_in(verdict):
                    titles[verdict.id, check] = title
                    rows.setdefault((verdict.id, check), []).append((share, total - verdict.points, seconds))
    return [_item(*key, titles[key], *map(list, zip(*row, strict=True))) for key, row in rows.items()]


def _item(
    exercise: str, check: str, title: str, shares: list[float], rest: list[float], seconds: list[float | None]
) -> Item:
    """Return the statistics of one item.

    Args:
        shares: the share of the item's points that each student has, from 0 to 1.
        rest: the points that each student has in all other exercises.
        seconds: the time that each student's trials took; None if it was not recorded.
    """
    r, why_not = None, ""
    if len(shares) < LEAST_STUDENTS:
        why_not = f"n = {len(shares)} is too small"
    elif (r := correlation(shares, rest)) is None:
        why_not = (
            "all have the same points" if len(set(shares)) < 2 else "all have the same points in the other exercises"
        )
    taken = [each for each in seconds if each is not None]
    return Item(
        exercise=exercise,
        check=check,
        title=title,
        students=len(shares),
        difficulty=fmean(shares),
        discrimination=r,
        interval=None if r is None else interval(r, len(shares)),
        why_not=why_not,
        seconds=median(taken) if taken else None,
    )


def _share(verdict: Verdict) -> float:
    return verdict.points / verdict.max_points


def _seconds(checks: Sequence[CheckResult]) -> float | None:
    """Return the seconds that the trials of some checks took, or None if no time was recorded."""
    return sum(check.seconds for check in checks) or None


def correlation(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Return the product-moment correlation, or None if all values of `xs` or all values of `ys` are equal.

    If one side contains only 0 and 1, it is the point-biserial correlation. If both sides do, it is
    phi.
    """
    if any(isclose(min(side), max(side), rel_tol=1e-9, abs_tol=1e-9) for side in (xs, ys)):
        return None
    return max(-1.0, min(1.0, statistics.correlation(xs, ys)))


def interval(r: float, n: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a correlation by Fisher's transform.

    Args:
        r: the correlation.
        n: the number of pairs, more than 3.
    """
    if abs(r) >= 1:
        return r, r
    half = NORMAL_95 / sqrt(n - 3)
    return tanh(atanh(r) - half), tanh(atanh(r) + half)


# ---------------------------------------------------------------- mistakes


def mistakes_together(grades: Sequence[Grade]) -> list[Together]:
    """Return the pairs of mistakes that the same students make more often than by chance, the strongest first."""
    made = [_mistakes(grade) for grade in grades]
    counts = Counter(mistake for mistakes in made for mistake in mistakes)
    pairs = Counter(pair for mistakes in made for pair in combinations(sorted(mistakes), 2))
    found = [
        Together(first=one, second=other, both=both, counts=(counts[one], counts[other]), phi=phi)
        for (one, other), both in pairs.items()
        if both >= LEAST_TOGETHER and (phi := _phi(both, counts[one], counts[other], len(grades))) > 0
    ]
    return sorted(found, key=lambda each: (-each.phi, -each.both, each.first, each.second))


def _mistakes(grade: Grade) -> set[tuple[str, str]]:
    """Return the explanations of a submission's wrong answers, as pairs of an exercise and a text."""
    return {
        (verdict.id, without_place(verdict.hint) or verdict.mistake or verdict.diagnosis)
        for verdict in grade.verdicts
        if is_explained(verdict)
    }


def _phi(both: int, one: int, other: int, n: int) -> float:
    """Return the correlation phi of two mistakes, or 0 if everybody or nobody makes one of them.

    Args:
        both: the number of students who make both mistakes.
        one: the number of students who make the first mistake.
        other: the number of students who make the second mistake.
        n: the number of all students.
    """
    spread = one * (n - one) * other * (n - other)
    return (n * both - one * other) / sqrt(spread) if spread else 0.0


# ---------------------------------------------------------------- as CSV

COLUMNS = tuple("assignment exercise check title students difficulty discrimination low high remark seconds".split())


def items_csv(grades: Iterable[Grade]) -> str:
    """Return the items of all assignments as CSV. The rows of an exercise's checks follow its own row.

    The column `seconds` is the median time of an item's trials. `low` and `high` are the limits of
    the 95 % interval of the discrimination.
    """
    groups: dict[str, list[Grade]] = {}
    for grade in grades:
        if grade.status == "graded":
            groups.setdefault(grade.assignment, []).append(grade)
    file = io.StringIO()
    write = csv.writer(file, lineterminator="\n").writerow
    write(COLUMNS)
    for assignment, group in sorted(groups.items()):
        checks = check_items(group)
        for exercise in exercise_items(group):
            for item in [exercise, *(each for each in checks if each.exercise == exercise.exercise)]:
                low, high = item.interval or (None, None)
                figures = (item.difficulty, item.discrimination, low, high)
                written = ("" if figure is None else f"{figure:.4f}" for figure in figures)
                seconds = "" if item.seconds is None else f"{item.seconds:.3f}"
                write(
                    [assignment, item.exercise, item.check, item.title, item.students, *written, item.why_not, seconds]
                )
    return file.getvalue()


@dataclass(frozen=True)
class Diagnosis:
    """One explanation that several answers to an exercise received."""

    exercise: str
    mistake: str  # the declared mistake's name; "" if none is declared for it
    kind: str  # the kind of explanation: "mistake", "structure", "relation", …
    says: str
    students: tuple[str, ...]  # their ids
    share: float  # of the commonest, in percent


def commonest_diagnoses(grades: Iterable[Grade]) -> list[Diagnosis]:
    """Return the explanations of wrong answers, the most frequent first.

    Explanations that differ only in the place, such as line 3 and line 5, are counted as the same.
    """
    students: dict[tuple[str, str, str, str], list[str]] = {}
    for grade in grades:
        for verdict in filter(is_explained, grade.verdicts):
            key = (verdict.id, verdict.mistake or "", verdict.diagnosis or "mistake", without_place(verdict.hint))
            students.setdefault(key, []).append(grade.student)
    most = max(map(len, students.values()), default=1)
    rows = sorted(students.items(), key=lambda entry: (-len(entry[1]), by_number(entry[0][0]), entry[0]))
    return [Diagnosis(*key, tuple(ids), 100 * len(ids) / most) for key, ids in rows]


def unexplained(grades: Sequence[Grade]) -> dict[str, int]:
    """Map each exercise to its number of wrong answers without an explanation, in the exercises' order."""
    counts = Counter(
        verdict.id
        for grade in grades
        for verdict in grade.verdicts
        if verdict.outcome is Outcome.FAILED and not is_explained(verdict) and not has_stopped(verdict)
    )
    return dict(sorted(counts.items(), key=lambda entry: by_number(entry[0])))


def stopped(grades: Sequence[Grade]) -> dict[str, int]:
    """Map each exercise to its number of answers whose cell stopped with an error before any trial, in order."""
    counts = Counter(verdict.id for grade in grades for verdict in grade.verdicts if has_stopped(verdict))
    return dict(sorted(counts.items(), key=lambda entry: by_number(entry[0])))


def has_stopped(verdict: Verdict) -> bool:
    """Return True if the student sees a single message and the lines around the error, instead of checks."""
    is_about_a_line = verdict.outcome is Outcome.FAILED and bool(verdict.excerpt)
    return is_about_a_line and said_once(verdict) and not is_explained(verdict)


def is_explained(verdict: Verdict) -> bool:
    """Return True if the student's message names a cause, not only the observation."""
    return bool(verdict.mistake or verdict.diagnosis)


def without_place(hint: str) -> str:
    """Return a hint without the place in the student's code.

    Remove the last sentence if it begins with the line, and replace all line numbers.
    """
    return PLACE.sub(r"\1 …", SENTENCE_OF_PLACE.sub("", hint))
