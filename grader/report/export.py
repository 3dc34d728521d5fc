"""Converts grades to the files of learning platforms.

canvas      Gradebook import: https://community.canvaslms.com/t5/Instructor-Guide/ta-p/807, as
            lib/gradebook_importer.rb of canvas-lms reads it.
moodle      The assignment's grading worksheet if the ids are Moodle's own numbers (they come from its zip),
            else a file for the gradebook's CSV import: https://docs.moodle.org/en/Grade_import
gradescope  results.json: https://gradescope-autograders.readthedocs.io/en/latest/specs/
csv         One table with everything.

The files for Canvas and Moodle leave out a student with a grade that a fault of the grader withholds: in
Canvas an empty cell would clear a score. Gradescope's file and the table have such a grade, without a score.
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
FORMULA_STARTS = ("=", "+", "-", "@")  # spreadsheets run a cell that starts with one of these
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def export(service: str, grades: Iterable[Grade]) -> str:
    """Return the content of the file that a service imports.

    Raises:
        ValueError: the service is not one of SERVICES.
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
        # Canvas recognises this row by its text; its own export indents the text by four spaces.
        ["    Points Possible", "", "", "", "", *(number(worth[name]) for name in names)],
    ]
    for student, scores in _by_student(grades):
        # The student's id is Canvas's own number, as in its zip, or else the student's login name.
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
    """Return each student's grades by assignment; leave out students with any grade that has no score."""
    by_student: dict[str, dict[str, Grade]] = {}
    for grade in grades:
        if grade.assignment:
            by_student.setdefault(grade.student, {})[grade.assignment] = grade
    return [
        (student, by_assignment)
        for student, by_assignment in by_student.items()
        if all(grade.score is not None for grade in by_assignment.values())
    ]


def _is_number(student: str) -> bool:
    return student.isascii() and student.isdigit()


def _score(grade: Grade | None) -> str:
    return "" if grade is None or grade.score is None else number(grade.score)


# ---------------------------------------------------------------- Gradescope


def _gradescope(grades: Sequence[Grade]) -> str:
    """Return results.json of a single submission; for several, one object for each, by student."""
    if len(grades) == 1:
        return _json(_results(grades[0]))
    # The key is the student's id; if a student has several submissions, the key is student/assignment.
    one_each = len({grade.student for grade in grades}) == len(grades)
    names = [grade.student if one_each else f"{grade.student}/{grade.assignment}" for grade in grades]
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
        # Without score and tests in the results, Gradescope gives no grade and tells the instructor.
        results["output"] = "The grader failed; this costs you nothing. Your instructor will run it again."
        return results
    return {**results, "score": grade.score, "tests": [_test(verdict) for verdict in grade.verdicts]}


def _test(verdict: Verdict) -> dict[str, Any]:
    texts = [verdict.message, f"Hint: {verdict.hint}" if verdict.hint else "", *verdict.notes]
    return {
        "number": verdict.id,
        "name": clean(f"{verdict.title} ({verdict.name})"),
        "score": verdict.points,
        "max_score": verdict.max_points,
        "status": "passed" if verdict.outcome is Outcome.PASSED else "failed",
        "output": "\n".join(clean(text) for text in texts if text) or SYMBOLS[kind(verdict)][1],
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
    formula = text.lstrip().startswith(FORMULA_STARTS) and not NUMBER.fullmatch(text)
    return f"'{text}" if formula else text
