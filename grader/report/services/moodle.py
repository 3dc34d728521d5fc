"""Moodle: the grading worksheet of an assignment, or a file for the gradebook's CSV import.

Moodle reads the worksheet in mod/assign/feedback/offline/importgradeslib.php. It uses the columns
"Identifier", "Grade", "Last modified (grade)" and, if the assignment has that kind of feedback,
"Feedback comments", which contains HTML. The format of the other file is that of
https://docs.moodle.org/en/Grade_import
"""

from collections.abc import Mapping, Sequence

from markupsafe import escape

from grader.records import GradebookEntry, Outcome, Verdict, Written
from grader.report.services.csv_table import CannotExport, Export, Scores, WrongOwnFile, read_table, score, table
from grader.report.text import EXERCISE_FAULT, SUBMISSION_FAULT, clean, kind, lateness, some, worth

GRADE, COMMENTS, IDENTIFIER, STATUS = "Grade", "Feedback comments", "Identifier", "Status"
HEAD = [
    *(IDENTIFIER, "Full name", "Email address", STATUS, GRADE, "Maximum Grade", "Grade can be changed"),
    *("Last modified (submission)", "Last modified (grade)", COMMENTS),
]
FAULT = f"{SUBMISSION_FAULT} It will be graded again."
PARTICIPANT = "Participant "  # stands before the number in Moodle's column "Identifier"
DRAFT = "Draft"  # how the status begins of what was saved and not submitted: "Draft (not submitted)"


def moodle(students: Scores, assignments: Sequence[str], own: str = "") -> Export:
    """Return Moodle's grading worksheet, or a table if the gradebook does not have Moodle's participant numbers.

    The worksheet leaves out students without such a number, because Moodle has no row for them. The
    table identifies students by email address if all ids are addresses, and by ID number otherwise.

    Args:
        students: each student, with their entries by assignment.
        own: the worksheet that Moodle wrote, which gets filled in; "" without one.

    Raises:
        CannotExport: `own` is not a worksheet, or there are several assignments for one worksheet.
    """
    participants = [(student, scores) for student, scores in students if student.has_lms_id]
    if (participants or own) and len(assignments) > 1:
        raise CannotExport(f"Moodle has a worksheet for each assignment: pass --assignment, as in {assignments[0]}")
    entries = {student.id: scores[assignments[0]] for student, scores in participants}
    left_out = tuple(student.id for student, _ in students if not student.has_lms_id)
    if own:
        return _filled_in(entries, left_out, own)
    if participants:
        rows = [_row(entry) for entry in entries.values()]
        return Export(text=table([HEAD, *rows], trusted={"-"}), left_out=left_out)
    mail = all("@" in student.id for student, _ in students)
    rows = [["Email address" if mail and students else "ID number", *assignments]]
    rows += [[student.id, *(score(scores.get(name)) for name in assignments)] for student, scores in students]
    return Export(text=table(rows))


def _row(entry: GradebookEntry) -> list[str]:
    """Return a student's row of a worksheet."""
    student = entry.student
    identity = [f"{PARTICIPANT}{student.id}", student.name, student.email, ""]
    return [*identity, _points(entry), f"{entry.max_score:.2f}", "Yes", "-", "-", comments(entry)]


def _points(entry: GradebookEntry) -> str:
    return "" if entry.score is None else f"{entry.score:.6f}".removesuffix("0000")


def _filled_in(entries: Mapping[str, GradebookEntry], left_out: tuple[str, ...], own: str) -> Export:
    """Return Moodle's own worksheet with grades and comments. Rows of students without a score stay unchanged."""
    head, *rows = _worksheet(own)
    if COMMENTS not in head:
        head, rows = [*head, COMMENTS], [[*row, ""] for row in rows]
    identifier, grade, comment = (head.index(name) for name in (IDENTIFIER, GRADE, COMMENTS))
    seen = set()
    for row in rows:
        number_there = row[identifier].removeprefix(PARTICIPANT)
        if (entry := entries.get(number_there)) is not None and entry.score is not None:
            seen.add(number_there)
            row[grade], row[comment] = _points(entry), comments(entry)
    unknown = tuple(id for id, entry in entries.items() if id not in seen and entry.score is not None)
    waiting = sorted(seen & drafts(own))
    remarks = (f"have a score for a submission that is still a draft in Moodle: {some(waiting)}",) if waiting else ()
    return Export(text=table([head, *rows], trusted={"-"}), left_out=(*left_out, *unknown), remarks=remarks)


def drafts(own: str) -> set[str]:
    """Return the participant numbers of the students whose submission is a draft in Moodle.

    Only a worksheet in English shows drafts.

    Raises:
        WrongOwnFile: the file is not a worksheet.
    """
    head, *rows = _worksheet(own)
    people = (dict(zip(head, row, strict=True)) for row in rows)
    return {row[IDENTIFIER].removeprefix(PARTICIPANT) for row in people if row.get(STATUS, "").startswith(DRAFT)}


def _worksheet(own: str) -> list[list[str]]:
    """Return the rows of a worksheet. The first row contains the heads of the columns.

    Raises:
        WrongOwnFile: the text is not a worksheet.
    """
    rows = read_table(own)
    if not {IDENTIFIER, GRADE} <= set(rows[0]):
        raise WrongOwnFile(f"it is not a Moodle grading worksheet: it lacks the columns {IDENTIFIER} and {GRADE}")
    return rows


def comments(entry: GradebookEntry) -> str:
    """Return a short comment for a student as HTML. Details are only on the feedback page.

    All texts from the student or the instructor are escaped.
    """
    reason = {"fault": FAULT, "unreadable": entry.message}.get(entry.status, "")
    paragraphs = [
        (reason,),
        (lateness(entry.penalty, entry.seconds_late),),
        *(_about_exercise(verdict, entry) for verdict in entry.grade.verdicts),
        *(_about_question(written, entry) for written in entry.grade.written),
    ]
    return "".join(f"<p>{html}</p>" for html in map(_html, paragraphs) if html)


def _html(lines: Sequence[str]) -> str:
    """Return lines of text as HTML with <br> between them, or "" if all lines are empty. Leave out empty lines."""
    return "<br>".join(str(escape(clean(line))) for line in lines if line)


def _about_exercise(verdict: Verdict, entry: GradebookEntry) -> tuple[str, ...]:
    """Return the lines about an exercise, or no lines if it has full points and no comment."""
    if kind(verdict) == "full" and not _by_hand(entry, verdict.id):
        return ()
    head = f"{verdict.id} {verdict.title}: {_worth(entry, verdict.id)}".removesuffix(": ")
    message = verdict.message or ("not solved yet" if verdict.outcome is Outcome.MISSING else "")
    message = EXERCISE_FAULT if verdict.outcome is Outcome.FAULT else message
    return (head, verdict.hint, message, _by_hand(entry, verdict.id))


def _about_question(written: Written, entry: GradebookEntry) -> tuple[str, ...]:
    """Return the lines about a question, or no lines if it has neither points nor a comment."""
    earned, by_hand = _worth(entry, written.id), _by_hand(entry, written.id)
    return (f"{written.id} {written.title}: {earned}".removesuffix(": "), by_hand) if earned or by_hand else ()


def _worth(entry: GradebookEntry, name: str) -> str:
    """Return the points that count for an exercise or question as text, such as "3 of 5".

    Return "" if it has no maximum points and nobody gave it any.
    """
    verdict = next((verdict for verdict in entry.grade.verdicts if verdict.id == name), None)
    cell = entry.cells.get(name)
    points = entry.points(verdict) if verdict else cell.points if cell else None
    most = verdict.max_points if verdict else cell.max_points if cell else 0.0
    return worth(points, most) if most or (cell and cell.by_hand and points) else ""


def _by_hand(entry: GradebookEntry, name: str) -> str:
    """Return the instructor's comment on an exercise or question with an introduction, or "" without a comment."""
    cell = entry.cells.get(name)
    return f"Your instructor writes: {cell.comment}" if cell and cell.comment else ""
