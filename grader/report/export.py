"""Converts grades to the files of learning platforms.

canvas      Gradebook import: https://community.canvaslms.com/t5/Instructor-Guide/ta-p/807, as
            lib/gradebook_importer.rb of canvas-lms reads it.
moodle      The assignment's grading worksheet if the ids are Moodle's own numbers (they come from its zip),
            else a file for the gradebook's CSV import: https://docs.moodle.org/en/Grade_import
gradescope  results.json: https://gradescope-autograders.readthedocs.io/en/latest/specs/
csv         One table with everything.

All points are the gradebook's: with what people gave by hand, less the penalty for being late. A cell without
a score stays empty; `left_out` names who has no row.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from grader import __version__
from grader.records import GradebookEntry, Outcome, Student, Verdict
from grader.report.text import SYMBOLS, clean, exercise_ids, kind

SERVICES = ("canvas", "moodle", "gradescope", "csv")
FORMULA_STARTS = ("=", "+", "-", "@")  # spreadsheets run a cell that starts with one of these
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


class CannotExport(Exception):
    """A service has no file for this; the message says what to do."""


@dataclass(frozen=True, kw_only=True)
class Export:
    """The content of the file that a service imports."""

    text: str
    left_out: tuple[str, ...] = ()  # students without a row, because the service does not know their ids


def export(service: str, entries: Iterable[GradebookEntry]) -> Export:
    """Return the content of the file that a service imports.

    Raises:
        ValueError: the service is not one of SERVICES.
        CannotExport: the service has no file for these entries together.
    """
    writers = {"canvas": _canvas, "moodle": _moodle, "gradescope": _gradescope, "csv": _csv}
    if service not in writers:
        raise ValueError(f"no export to {service!r}; there are {', '.join(SERVICES)}")
    return writers[service](sorted(entries, key=lambda entry: (entry.student.id, entry.assignment)))


# ---------------------------------------------------------------- Canvas and Moodle


def _canvas(entries: Sequence[GradebookEntry]) -> Export:
    names = _assignments(entries)
    worth = {name: max(entry.max_score for entry in entries if entry.assignment == name) for name in names}
    rows = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *names],
        # Canvas recognises this row by its text; its own export indents the text by four spaces.
        ["    Points Possible", "", "", "", "", *(_exact(worth[name]) for name in names)],
    ]
    for student, scores in _by_student(entries):
        # The student's id is Canvas's own number, as in its zip, or else the student's login name.
        identity = [student.id, "", ""] if student.has_lms_id else ["", "", student.id]
        name = f"{student.last_name}, {student.first_name}".strip(", ") or student.id
        rows.append([name, *identity, "", *(_score(scores.get(name)) for name in names)])
    return Export(text=_table(rows))


def _moodle(entries: Sequence[GradebookEntry]) -> Export:
    """Return Moodle's grading worksheet where its zip told its own numbers, else a file with ID numbers.

    In a worksheet, students whose id is no participant's number are left out: Moodle knows no such row.

    Raises:
        CannotExport: there is a participant's number, and more than one assignment, for each of which Moodle has
            a worksheet of its own.
    """
    names = _assignments(entries)
    students = _by_student(entries)
    participants = [(student, scores) for student, scores in students if student.has_lms_id]
    if participants and len(names) > 1:
        raise CannotExport(f"Moodle has a worksheet for each assignment: pass --assignment, as in {names[0]}")
    if participants:
        left_out = tuple(student.id for student, _ in students if not student.has_lms_id)
        return Export(text=_worksheet(names[0], participants), left_out=left_out)
    mail = all("@" in student.id for student, _ in students)
    rows = [["Email address" if mail and students else "ID number", *names]]
    rows += [[student.id, *(_score(scores.get(name)) for name in names)] for student, scores in students]
    return Export(text=_table(rows))


def _worksheet(assignment: str, students: Sequence[tuple[Student, Mapping[str, GradebookEntry]]]) -> str:
    """Return the grading worksheet of one assignment in Moodle."""
    header = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade"]
    rows = [[*header, "Grade can be changed", "Last modified (submission)", "Last modified (grade)"]]
    for student, scores in students:
        entry = scores[assignment]
        identity = [f"Participant {student.id}", student.name, student.email, ""]
        points = "" if entry.score is None else f"{entry.score:.6f}".removesuffix("0000")
        rows.append([*identity, points, f"{entry.max_score:.2f}", "Yes", "-", "-"])
    return _table(rows, trusted={"-"})


def _assignments(entries: Sequence[GradebookEntry]) -> list[str]:
    return sorted({entry.assignment for entry in entries if entry.assignment})


def _by_student(entries: Sequence[GradebookEntry]) -> list[tuple[Student, dict[str, GradebookEntry]]]:
    """Return each student's entries by assignment; leave out who has no score at all."""
    by_student: dict[Student, dict[str, GradebookEntry]] = {}
    for entry in entries:
        if entry.assignment and entry.status != "missing":
            by_student.setdefault(entry.student, {})[entry.assignment] = entry
    return [
        (student, by_assignment)
        for student, by_assignment in by_student.items()
        if any(entry.score is not None for entry in by_assignment.values())
    ]


def _score(entry: GradebookEntry | None) -> str:
    return "" if entry is None or entry.score is None else _exact(entry.score)


def _exact(points: float) -> str:
    """Format points for another program: to six decimals, where a page shows two."""
    return f"{points:.6f}".rstrip("0").rstrip(".")


# ---------------------------------------------------------------- Gradescope


def _gradescope(entries: Sequence[GradebookEntry]) -> Export:
    """Return results.json of a single submission; for several, one object for each, by student."""
    entries = [entry for entry in entries if entry.status != "missing"]
    if len(entries) == 1:
        return Export(text=_json(_results(entries[0])))
    # The key is the student's id; if a student has several submissions, the key is student/assignment.
    one_each = len({entry.student.id for entry in entries}) == len(entries)
    names = [entry.student.id if one_each else f"{entry.student.id}/{entry.assignment}" for entry in entries]
    return Export(text=_json(dict(zip(names, map(_results, entries), strict=True))))


def _results(entry: GradebookEntry) -> dict[str, Any]:
    grade = entry.grade
    results: dict[str, Any] = {
        "execution_time": round(grade.seconds),
        "output": clean(entry.message),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {
            "assignment": clean(grade.assignment),
            "status": entry.status,
            "isolation": grade.isolation,
            "device": grade.device,
            "submission_sha256": grade.submission_sha256,
            "grader_version": __version__,
        },
    }
    if entry.fault:
        results["output"] = "The grader failed; this costs you nothing. Your instructor will run it again."
    if entry.score is None:
        # Without score and tests in the results, Gradescope gives no grade and tells the instructor.
        return results
    return {**results, "score": entry.score, "tests": [_test(verdict, entry) for verdict in grade.verdicts]}


def _test(verdict: Verdict, entry: GradebookEntry) -> dict[str, Any]:
    cell = entry.cells.get(verdict.id)
    comment = f"Your instructor writes: {cell.comment}" if cell and cell.comment else ""
    texts = [verdict.message, f"Hint: {verdict.hint}" if verdict.hint else "", *verdict.notes, comment]
    return {
        "number": verdict.id,
        "name": clean(f"{verdict.title} ({verdict.name})"),
        "score": entry.points(verdict) or 0.0,
        "max_score": verdict.max_points,
        "status": "passed" if verdict.outcome is Outcome.PASSED else "failed",
        "output": "\n".join(clean(text) for text in texts if text) or SYMBOLS[kind(verdict)][1],
        "output_format": "text",
        "visibility": "visible",
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


# ---------------------------------------------------------------- one table


def _csv(entries: Sequence[GradebookEntry]) -> Export:
    ids = exercise_ids(entries)
    others = sorted({name for entry in entries for name in entry.cells} - set(ids))
    person = ["student", "last_name", "first_name", "email"]
    points = ["score", "max_score", "raw_score", "penalty", "seconds_late", "needs_manual_grade"]
    last = ["flags", "message", "isolation", "device", "seconds", "submission_sha256", "grader_version"]
    rows = [[*person, "assignment", "status", *points, *ids, *others, *last]]
    for entry in entries:
        student, grade = entry.student, entry.grade
        flags = "; ".join(f"{flag.exercise or ''} {flag.kind}".strip() for flag in grade.flags)
        ran = [grade.isolation, grade.device, f"{grade.seconds:.2f}", grade.submission_sha256, __version__]
        scores = ["", _exact(entry.max_score), "", "", "", ""]
        if entry.score is not None:
            late = "" if entry.seconds_late is None else _exact(entry.seconds_late)
            scores = [_score(entry), scores[1], _exact(entry.raw_score), _exact(entry.penalty), late, ""]
        scores[-1] = "yes" if entry.needs_manual_grade else "no"
        rows.append(
            [
                *(student.id, student.last_name, student.first_name, student.email),
                *(entry.assignment, entry.status, *scores),
                *(_points(entry, name) for name in (*ids, *others)),
                *(flags, entry.message, *ran),
            ]
        )
    return Export(text=_table(rows))


def _points(entry: GradebookEntry, name: str) -> str:
    """Return the points that count for an exercise, or for a cell that the instructor added."""
    verdicts = {verdict.id: verdict for verdict in entry.grade.verdicts}
    cell = entry.cells.get(name)
    points = entry.points(verdicts[name]) if name in verdicts else cell.points if cell else None
    return "" if points is None else _exact(points)


def _table(rows: Iterable[Sequence[str]], trusted: Set[str] = frozenset()) -> str:
    """Return CSV as RFC 4180 defines it.

    An apostrophe stands before each cell that a spreadsheet would run as a formula. Negative numbers get no
    apostrophe, although they begin with "-": a platform could not read them.

    Args:
        trusted: texts of cells that are written as they are.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows([cell if cell in trusted else _without_formula(cell) for cell in row] for row in rows)
    return text.getvalue()


def _without_formula(cell: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would run; replace unprintable characters."""
    # Clean only cells with unprintable characters: `clean` would remove the indentation that Canvas expects.
    text = cell if cell.isprintable() else clean(cell)
    # Some spreadsheets read the full-width forms of these characters, too: NFKC turns them into the plain ones.
    plain = unicodedata.normalize("NFKC", text).lstrip()
    formula = plain.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(text)
    return f"'{text}" if formula else text
