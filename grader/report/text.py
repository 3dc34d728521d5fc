"""Formats words and numbers for all reports, and sorts entries and exercises.

An entry is the gradebook's record of one submission.
"""

import re
from collections.abc import Iterable, Sequence
from statistics import mean, median

from grader.records import Appeal, CellScore, CheckResult, GradebookEntry, Outcome, Student, Verdict

CODE = re.compile(r"`([^`]+)`")  # in a message: what is shown as code
# How an exercise ended: one character, which is distinct without colour, and the words for it.
SYMBOLS = {
    "full": ("✓", "full points"),
    "part": ("◐", "part of the points"),
    "wrong": ("✗", "no points"),
    "missing": ("·", "not solved"),
    "timeout": ("…", "out of time"),
    "fault": ("!", "grader error"),
}
# What students read in the place of a message about the grader itself.
EXERCISE_FAULT = "This exercise could not be graded because of a grader error. You lose no points."
SUBMISSION_FAULT = "Your newest submission could not be graded because of a grader error. You lose no points."
WAITS = "passed, but gives points only if the values are right"


def clean(text: object) -> str:
    """Return text on one line that any terminal, file and page can show.

    Newlines become spaces; a character that cannot be shown becomes �.
    """
    lines = " ".join(str(text).split())
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in lines)


def who(student: Student) -> str:
    """Return the student's id and, if it is known, the student's name, on one line."""
    return clean(f"{student.id} {student.name}")


def clean_lines(text: str) -> str:
    """Return text that any terminal, file and page can show, with its lines and spaces.

    A character that cannot be shown becomes �.
    """
    return "\n".join(
        "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in line)
        for line in text.split("\n")
    )


def some(names: Sequence[str]) -> str:
    """Return at most twenty names, separated by commas, and the number of further names."""
    shown = ", ".join(clean(name) for name in names[:20])
    return shown if len(names) <= 20 else f"{shown} and {len(names) - 20} more"


def check_messages(verdict: Verdict) -> list[str]:
    """Return the messages of an exercise's checks. If a check above has the same message, return "the same".

    A check may pass and still give no points until another one passes. If the values are wrong, for
    example, it is worth nothing that a batch of inputs gives the same wrong values as each input
    by itself.
    """
    messages = [check.message for check in verdict.checks]
    return [
        WAITS
        if is_waiting(check)
        else "the same"
        if check.message and check.message in messages[:index]
        else check.message
        for index, check in enumerate(verdict.checks)
    ]


def is_waiting(check: CheckResult) -> bool:
    """Return True if a check passed but gives no points before another check passes."""
    return check.outcome is Outcome.PASSED and check.points < check.max_points


def said_once(verdict: Verdict) -> bool:
    """Return True if all checks of an exercise have the exercise's message, so that a report shows it once."""
    return len(verdict.checks) > 1 and {check.message for check in verdict.checks} == {verdict.message}


def number(value: float) -> str:
    """Return a number with up to two decimals, without trailing zeros: "12.5" for 12.5, "15" for 15.0."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def worth(points: float | None, max_points: float) -> str:
    """Return the points of an exercise or question as text, such as "3 of 5".

    Return "needs manual grading" if `points` is None. Return "2 points" if a person gave points
    although there are no maximum points.
    """
    if points is None:
        return "needs manual grading"
    if not max_points:
        return "1 point" if points == 1 else f"{number(points)} points"
    return f"{number(points)} of {number(max_points)}"


def worth_of_cell(cell: CellScore | None, points: float | None) -> str:
    """Return the points of a question as text, or "no points" if it has no points and nobody gave it any.

    Args:
        cell: the question's cell in the gradebook, or None if it has no cell.
        points: the points that count, or None if it needs manual grading.
    """
    return worth(points, cell.max_points) if cell and (cell.max_points or cell.by_hand) else "no points"


def or_dash(value: float | None) -> str:
    """Return a number as text as `number` does, or a dash for None."""
    return "–" if value is None else number(value)


def appeal_outcome(appeal: Appeal, entry: GradebookEntry) -> str:
    """Return the decision on an appeal and its date as text.

    The text also states if the appeal is about an earlier submission.
    """
    earlier = appeal.submission_sha256 != entry.grade.submission_sha256
    about = " (about an earlier submission)" if earlier else ""
    if not appeal.outcome:
        return f"no decision yet{about}"
    decided = "set the points" if appeal.outcome == "points" else "kept the points"
    return f"your instructor {decided} on {appeal.decided}{about}"


def kind(verdict: Verdict) -> str:
    """Return the key of SYMBOLS for the outcome of an exercise."""
    if verdict.outcome is Outcome.FAILED:
        return "part" if verdict.points > 0 else "wrong"
    names = {Outcome.PASSED: "full", Outcome.MISSING: "missing", Outcome.TIMEOUT: "timeout"}
    return names.get(verdict.outcome, "fault")


def kind_of_points(verdict: Verdict, entry: GradebookEntry) -> str:
    """Return the key in SYMBOLS ("full", "part", …) for the points that count.

    Manual points count if there are any, or else the automatic ones.
    """
    cell = entry.cells.get(verdict.id)
    if cell is None or not cell.by_hand or cell.points is None:
        return kind(verdict)
    if cell.points >= cell.max_points:
        return "full"
    return "part" if cell.points > 0 else "wrong"


def lateness(penalty: float, seconds_late: float | None) -> str:
    """Return a sentence about a late submission, or "" if the submission is in time."""
    if penalty:
        points = "1 point was" if penalty == 1 else f"{number(penalty)} points were"
        return f"The submission was late: {points} subtracted."
    return "The submission was late: no points were subtracted." if (seconds_late or 0.0) > 0 else ""


def summary(entries: Sequence[GradebookEntry]) -> str:
    """Return a summary of a class on one line.

    For several assignments, a student counts as missing if they submitted none of them.

        13 submissions: 11 graded, 1 unreadable, 1 fault; mean 71.2, median 80 of 100 (over the
        graded); 2 submitted nothing
    """
    submitted = [entry for entry in entries if entry.status != "missing"]
    parts = []
    plurals = dict(graded="graded", recorded="recorded by nbgrader", unreadable="unreadable", fault="faults")
    for status, plural in plurals.items():
        if count := sum(entry.status == status for entry in submitted):
            parts.append(f"{count} {status if count == 1 and status != 'recorded' else plural}")
    text = f"{len(submitted)} submission{'' if len(submitted) == 1 else 's'}"
    text += f": {', '.join(parts)}" if parts else ""
    scored = with_score(submitted)
    if scores := [entry.score or 0.0 for entry in scored]:
        worth = {entry.max_score for entry in scored}
        of = f" of {number(worth.pop())}" if len(worth) == 1 else ""
        text += f"; mean {number(round(mean(scores), 1))}, median {number(round(median(scores), 1))}{of}"
        text += " (over the graded)" if len(scored) < len(submitted) else ""
    missing = len({entry.student.id for entry in entries} - {entry.student.id for entry in submitted})
    return f"{text}; {missing} submitted nothing" if missing else text


def with_score(entries: Iterable[GradebookEntry]) -> list[GradebookEntry]:
    """Return the entries with a score, for use in averages and plots, without submissions that cannot be read."""
    return [entry for entry in entries if entry.status in ("graded", "recorded") and entry.score is not None]


def assignments(entries: Iterable[GradebookEntry]) -> dict[str, list[GradebookEntry]]:
    """Return entries by assignment. Assignments, and students within an assignment, are sorted by id."""
    groups: dict[str, list[GradebookEntry]] = {}
    for entry in sorted(entries, key=lambda entry: (entry.assignment, entry.student.id)):
        groups.setdefault(entry.assignment, []).append(entry)
    return groups


def exercise_ids(entries: Iterable[GradebookEntry]) -> list[str]:
    """Return the ids of all graded exercises once, sorted by number, with practice exercises ("P") at the end."""
    seen = dict.fromkeys(verdict.id for entry in entries for verdict in entry.grade.verdicts)
    return sorted(seen, key=by_number)


def by_number(id: str) -> tuple[bool | str, ...]:
    """Return the key that sorts exercises by number: "4.2" before "4.10", and practice exercises ("P") last."""
    return ("P" in id, *(part.lstrip("P").zfill(4) for part in id.split(".")))
