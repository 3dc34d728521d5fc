"""Formats words and numbers, and sorts grades and exercises, for all reports."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, median

from grader.records import Grade, Outcome, Verdict

# How an exercise ended: one character, which is distinct without colour, and the words for it.
SYMBOLS = {
    "full": ("✓", "full points"),
    "part": ("◐", "part of the points"),
    "wrong": ("✗", "no points"),
    "missing": ("·", "not solved"),
    "timeout": ("…", "out of time"),
    "fault": ("!", "fault of the grader"),
}


def clean(text: object) -> str:
    """Convert to text that any terminal, file and page can show, on one line.

    Newlines become spaces; a character that cannot be shown becomes �.
    """
    lines = " ".join(str(text).split())
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in lines)


def number(value: float) -> str:
    """Format a number without trailing zeros: "12.5" for 12.5, "15" for 15.0."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def kind(verdict: Verdict) -> str:
    """Return how an exercise ended, as a key of SYMBOLS."""
    if verdict.outcome is Outcome.FAILED:
        return "part" if verdict.points > 0 else "wrong"
    names = {Outcome.PASSED: "full", Outcome.MISSING: "missing", Outcome.TIMEOUT: "timeout"}
    return names.get(verdict.outcome, "fault")


def summary(grades: Sequence[Grade]) -> str:
    """Sum up a class in one line.

    "13 submissions: 11 graded, 1 unreadable, 1 fault; mean 71.2, median 80 of 100"
    """
    parts = []
    for status, plural in (("graded", "graded"), ("unreadable", "unreadable"), ("fault", "faults")):
        if count := sum(grade.status == status for grade in grades):
            parts.append(f"{count} {status if count == 1 else plural}")
    text = f"{len(grades)} submission{'' if len(grades) == 1 else 's'}"
    text += f": {', '.join(parts)}" if parts else ""
    scores = [grade.score for grade in grades if grade.status == "graded" and grade.score is not None]
    if not scores:
        return text
    worth = {grade.max_score for grade in grades if grade.status == "graded"}
    of = f" of {number(worth.pop())}" if len(worth) == 1 else ""
    return f"{text}; mean {number(round(mean(scores), 1))}, median {number(round(median(scores), 1))}{of}"


def assignments(grades: Sequence[Grade]) -> dict[str, list[Grade]]:
    """Group grades by assignment; sort assignments and, within each, students alphabetically."""
    groups: dict[str, list[Grade]] = {}
    for grade in sorted(grades, key=lambda grade: (grade.assignment, grade.student)):
        groups.setdefault(grade.assignment, []).append(grade)
    return groups


def exercise_ids(grades: Sequence[Grade]) -> list[str]:
    """List the ids of all exercises in the grades, each once, by number; practice exercises ("P") last."""
    seen = dict.fromkeys(verdict.id for grade in grades for verdict in grade.verdicts)
    return sorted(seen, key=lambda id: ["P" in id, *(part.lstrip("P").zfill(4) for part in id.split("."))])
