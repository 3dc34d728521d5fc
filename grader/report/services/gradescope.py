"""Gradescope: results.json, as https://gradescope-autograders.readthedocs.io/en/latest/specs/ describes it.

A test is one check of one exercise. Checks try hidden inputs, so students see them only when the
instructor publishes the grades ("after_published"). Before that, students see only which exercises
have no answer that runs. There is no leaderboard, because Gradescope makes one only if the file has
a key of that name.
"""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from grader import __version__
from grader.records import CheckResult, GradebookEntry, Outcome, Verdict, Written
from grader.report.markdown import comment, escape, remarks, text_of
from grader.report.services.csv_table import Export
from grader.report.text import EXERCISE_FAULT, SYMBOLS, check_messages, clean, kind

FAULT = "The grader failed. You lose no points. Your instructor will run it again."
LATER = (
    "Your notebook was read and run. "
    "You can see the results on the hidden inputs when your instructor publishes the grades."
)
HIDDEN, VISIBLE = "after_published", "visible"


def gradescope(entries: Sequence[GradebookEntry]) -> Export:
    """Return results.json for a single submission. For several submissions, return one object for each of them.

    The key of an object is the student's id, or student/assignment if a student has several
    submissions.
    """
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
        "output": FAULT if entry.fault else _overview(entry),
        "output_format": "md",
        "test_output_format": "md",
        "visibility": VISIBLE,
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
    if entry.score is None:
        # Without score and tests in the results, Gradescope gives no grade and tells the instructor.
        return results
    tests = [test for verdict in grade.verdicts for test in _tests(verdict, entry)]
    tests += [_question(written, entry) for written in grade.written if _counts(written, entry)]
    return {**results, "score": entry.score, "tests": tests}


def _overview(entry: GradebookEntry) -> str:
    """Return the text at the top of a student's results.

    If the file was not graded, the text is the reason. Otherwise it announces the details that
    students see later, and lists the exercises without an answer.
    """
    if entry.status != "graded":
        return escape(entry.message)
    missing = [verdict for verdict in entry.grade.verdicts if verdict.outcome is Outcome.MISSING]
    if not missing:
        return LATER
    return "\n".join([LATER, "", "Without an answer:", "", *(f"- {escape(_named(each))}" for each in missing)])


def _named(verdict: Verdict) -> str:
    return f"{verdict.id} {verdict.title} ({verdict.name})"


def _tests(verdict: Verdict, entry: GradebookEntry) -> Iterator[dict[str, Any]]:
    """Yield a test for each check that has points, or one test for an exercise with manual points.

    The explanation of an exercise is in the test of its first failed check.
    """
    cell, points = entry.cells.get(verdict.id), entry.points(verdict) or 0.0
    checks = [check for check in verdict.checks if check.max_points]
    if not checks or not math.isclose(sum(check.points for check in checks), points, abs_tol=1e-6):
        message = EXERCISE_FAULT if verdict.outcome is Outcome.FAULT else verdict.message
        said = escape(message) or SYMBOLS[kind(verdict)][1]
        passed = verdict.outcome is Outcome.PASSED
        yield _test(verdict.id, _named(verdict), points, verdict.max_points, passed, remarks(verdict, cell, said))
        return
    messages = dict(zip((check.name for check in verdict.checks), check_messages(verdict), strict=True))
    first = next((check for check in checks if check.points < check.max_points), checks[0])
    for place, check in enumerate(checks, 1):
        said = _said(check, messages[check.name])
        output = remarks(verdict, cell, said) if check is first else said
        passed = check.points >= check.max_points
        name = f"{verdict.title}: {check.title}"
        yield _test(f"{verdict.id}.{place}", name, check.points, check.max_points, passed, output)


def _said(check: CheckResult, message: str) -> str:
    """Return the text that Gradescope shows for a check: its message, or otherwise "passed" or "failed"."""
    if check.outcome is Outcome.FAULT:
        return EXERCISE_FAULT
    return escape(message) or ("passed" if check.outcome is Outcome.PASSED else "failed")


def _test(label: str, name: str, points: float, max_points: float, passed: bool, output: str) -> dict[str, Any]:
    return {
        "number": label,
        "name": clean(name),
        "score": points,
        "max_score": max_points,
        "status": "passed" if passed else "failed",
        "output": output,
        "output_format": "md",
        "visibility": HIDDEN,
    }


def _counts(written: Written, entry: GradebookEntry) -> bool:
    """Return True if a question has a text, points or a comment to show."""
    cell = entry.cells.get(written.id)
    return bool(written.text) or (cell is not None and bool(cell.max_points or cell.by_hand or cell.comment))


def _question(written: Written, entry: GradebookEntry) -> dict[str, Any]:
    """Return the item for a question that is answered in words, with its points if a person gave them."""
    cell = entry.cells.get(written.id)
    item: dict[str, Any] = {
        "number": written.id,
        "name": clean(f"{written.title} (in words)"),
        "output_format": "md",
        "visibility": VISIBLE,
    }
    if cell is not None and (cell.max_points or cell.by_hand) and cell.points is not None:
        scored = {"score": cell.points, "max_score": cell.max_points, "visibility": HIDDEN}
        return {**item, **scored, "output": "\n\n".join(filter(None, (text_of(written), comment(cell))))}
    pending = "This answer needs manual grading." if written.text and (cell is None or cell.max_points) else ""
    return {**item, "output": "\n\n".join(filter(None, (pending, text_of(written), comment(cell))))}


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, allow_nan=False) + "\n"
