"""Grades in the formats of learning platforms.

canvas      Gradebook import: https://community.canvaslms.com/t5/Instructor-Guide/ta-p/807, as
            lib/gradebook_importer.rb of canvas-lms reads it.
moodle      The assignment's grading worksheet where the ids are Moodle's own numbers (they come from its zip),
            else a file for the gradebook's CSV import: https://docs.moodle.org/en/Grade_import
gradescope  results.json: https://gradescope-autograders.readthedocs.io/en/latest/specs/
csv         Everything in one table.

A fault of ours withholds the grade, so that student is left out: in Canvas an empty cell would clear a score.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence, Set
from typing import Any

from grader import __version__
from grader.records import Grade, Outcome, Verdict
from grader.report.text import SYMBOLS, clean, exercise_ids, kind, number

SERVICES = ("canvas", "moodle", "gradescope", "csv")
FORMULA = ("=", "+", "-", "@")  # spreadsheets run a cell that starts so
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def export(service: str, grades: Iterable[Grade]) -> str:
    """The grades as one file of that service.

    Raises:
        ValueError: there is no such service.
    """
    writers = {"canvas": _canvas, "moodle": _moodle, "gradescope": _gradescope, "csv": _csv}
    if service not in writers:
        raise ValueError(f"no export to {service!r}; there are {', '.join(SERVICES)}")
    ordered = sorted(grades, key=lambda grade: (grade.student, grade.assignment))
    return writers[service](ordered)


# ---------------------------------------------------------------- Canvas and Moodle


def _canvas(grades: Sequence[Grade]) -> str:
    names = _assignments(grades)
    worth = {name: max(grade.max_score for grade in grades if grade.assignment == name) for name in names}
    rows = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *names],
        # Canvas knows this row by its words; its own export indents them by four spaces.
        ["    Points Possible", "", "", "", "", *(number(worth[name]) for name in names)],
    ]
    for student, scores in _by_student(grades):
        # Canvas's own number, as its zip gives it, or the name that the student logs in with.
        identity = [student, "", ""] if _is_number(student) else ["", "", student]
        rows.append([student, *identity, "", *(_score(scores.get(name)) for name in names)])
    return _table(rows)


def _moodle(grades: Sequence[Grade]) -> str:
    names = _assignments(grades)
    students = _by_student(grades)
    if len(names) == 1 and students and all(_is_number(student) for student, _ in students):
        header = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade"]
        rows = [[*header, "Grade can be changed", "Last modified (submission)", "Last modified (grade)"]]
        for student, scores in students:
            grade = scores[names[0]]
            worth = f"{grade.max_score:.2f}"
            rows.append([f"Participant {student}", "", "", "", f"{grade.score:.2f}", worth, "Yes", "-", "-"])
        return _table(rows, trusted={"-"})
    mail = all("@" in student for student, _ in students)
    rows = [["Email address" if mail and students else "ID number", *names]]
    rows += [[student, *(_score(scores.get(name)) for name in names)] for student, scores in students]
    return _table(rows)


def _assignments(grades: Sequence[Grade]) -> list[str]:
    return sorted({grade.assignment for grade in grades if grade.assignment})


def _by_student(grades: Sequence[Grade]) -> list[tuple[str, dict[str, Grade]]]:
    """Each student's grades by assignment; nobody whose grade is withheld."""
    found: dict[str, dict[str, Grade]] = {}
    for grade in grades:
        if grade.assignment:
            found.setdefault(grade.student, {})[grade.assignment] = grade
    return [
        (student, mine)
        for student, mine in found.items()
        if all(one.score is not None for one in mine.values())
    ]


def _is_number(student: str) -> bool:
    return student.isascii() and student.isdigit()


def _score(grade: Grade | None) -> str:
    return "" if grade is None or grade.score is None else number(grade.score)


# ---------------------------------------------------------------- Gradescope


def _gradescope(grades: Sequence[Grade]) -> str:
    """results.json of one submission; of several, an object with one for each."""
    if len(grades) == 1:
        return _json(_results(grades[0]))
    once = len({grade.student for grade in grades}) == len(grades)
    names = [grade.student if once else f"{grade.student}/{grade.assignment}" for grade in grades]
    return _json(dict(zip(names, map(_results, grades), strict=True)))


def _results(grade: Grade) -> dict[str, Any]:
    results: dict[str, Any] = {
        "execution_time": round(grade.seconds),
        "output": clean(grade.message),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {
            "assignment": clean(grade.assignment),
            "status": grade.status,
            "isolation": grade.isolation,
            "device": grade.device,
            "submission_sha256": grade.submission_sha256,
            "grader_version": __version__,
        },
    }
    if grade.status == "fault":
        # Without a score and tests Gradescope gives no grade and tells the instructor.
        results["output"] = "The grader failed; this costs you nothing. Your instructor will run it again."
        return results
    return {**results, "score": grade.score, "tests": [_test(verdict) for verdict in grade.verdicts]}


def _test(verdict: Verdict) -> dict[str, Any]:
    said = [verdict.message, f"Hint: {verdict.hint}" if verdict.hint else "", *verdict.notes]
    return {
        "number": verdict.id,
        "name": clean(f"{verdict.title} ({verdict.name})"),
        "score": verdict.points,
        "max_score": verdict.max_points,
        "status": "passed" if verdict.outcome is Outcome.PASSED else "failed",
        "output": "\n".join(clean(text) for text in said if text) or SYMBOLS[kind(verdict)][1],
        "output_format": "text",
        "visibility": "visible",
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


# ---------------------------------------------------------------- one table


def _csv(grades: Sequence[Grade]) -> str:
    ids = exercise_ids(grades)
    last = ["flags", "message", "isolation", "device", "seconds", "submission_sha256", "grader_version"]
    rows = [["student", "assignment", "status", "score", "max_score", *ids, *last]]
    for grade in grades:
        points = {verdict.id: number(verdict.points) for verdict in grade.verdicts}
        flags = "; ".join(f"{flag.exercise or ''} {flag.kind}".strip() for flag in grade.flags)
        ran = [grade.isolation, grade.device, f"{grade.seconds:.2f}", grade.submission_sha256, __version__]
        score = _score(grade)
        first = [grade.student, grade.assignment, grade.status, score, number(grade.max_score)]
        rows.append([*first, *(points.get(id, "") for id in ids), flags, grade.message, *ran])
    return _table(rows)


def _table(rows: Iterable[Sequence[str]], trusted: Set[str] = frozenset()) -> str:
    """CSV as RFC 4180 has it; a cell that a spreadsheet would run as a formula is made text by an apostrophe.

    Numbers stay as they are, negative ones too: a platform would not read a score or an id with an apostrophe.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows([cell if cell in trusted else _inert(cell) for cell in row] for row in rows)
    return text.getvalue()


def _inert(cell: str) -> str:
    # Kept as it is: Canvas's own indentation, which `clean` would take away.
    text = cell if cell.isprintable() else clean(cell)
    formula = text.lstrip().startswith(FORMULA) and not NUMBER.fullmatch(text)
    return f"'{text}" if formula else text
