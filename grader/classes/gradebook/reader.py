"""Reads the gradebook: what it says of one submission, and of a class. It changes nothing.

Everything that is shown or handed on about points comes from here: pages, tables, exports. Each function raises a RecordError
if there is no gradebook, or it cannot be read.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from nbgrader import api
from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from grader.classes.gradebook.connection import attempt, existing
from grader.classes.gradebook.details import grade_in
from grader.classes.gradebook.entries import entry_of, student_of, whole_entry
from grader.classes.gradebook.stored import Stored, load_class, load_line
from grader.records import Grade, GradebookEntry, Student


def read_class(url: str, course: str, assignment: str | None = None) -> list[GradebookEntry]:
    """Read the submissions of an assignment, with None of all, and who handed in nothing of what others did; sorted.

    The grades are without checks and heatmaps: those of a large class would not fit into memory.
    """
    with existing(url, course) as db:
        return attempt(url, lambda: _class(db, assignment))


def read_whole_grades(url: str, course: str) -> Iterator[Grade]:
    """Yield the whole grade of each submission, with checks; without heatmaps, so that a large class fits into memory."""
    with existing(url, course) as db:
        for stored in attempt(url, lambda: [*load_class(db, None)]):
            grade = grade_in(attempt(url, partial(load_line, db, stored)))
            if grade is not None:
                verdicts = (replace(verdict, heatmaps=(), other=None) for verdict in grade.verdicts)
                yield replace(grade, verdicts=tuple(verdicts))


def read_entry(url: str, course: str, student: str, assignment: str) -> GradebookEntry | None:
    """Read one submission with its whole grade; None if the gradebook has none."""
    return next(read_whole(url, course, [(student, assignment)]))


def read_whole(url: str, course: str, wanted: Iterable[tuple[str, str]]) -> Iterator[GradebookEntry | None]:
    """Yield the submissions with these students and assignments, each with its whole grade; None where there is none."""
    with existing(url, course) as db:
        for student, assignment in wanted:
            yield attempt(url, partial(whole_entry, db, student, assignment))


def read_students(url: str, course: str) -> list[Student]:
    """Read all students of the gradebook, sorted."""
    with existing(url, course) as db:
        return sorted(attempt(url, lambda: _students(db)), key=lambda student: student.id)


def read_due_dates(url: str, course: str, student: str) -> dict[str, datetime]:
    """Map each assignment with a due date to the time until which a student may hand it in, extension included."""
    submissions, assignments = api.SubmittedAssignment.__table__, api.Assignment.__table__
    own = and_(submissions.c.assignment_id == assignments.c.id, submissions.c.student_id == student)
    query = select(assignments.c.name, assignments.c.duedate, submissions.c.extension).select_from(
        assignments.outerjoin(submissions, own)
    )
    with existing(url, course) as db:
        rows = attempt(url, lambda: db.execute(query.where(assignments.c.duedate.is_not(None))).all())
    return {row.name: row.duedate.replace(tzinfo=UTC) + (row.extension or timedelta()) for row in rows}


def _class(db: Session, assignment: str | None) -> list[GradebookEntry]:
    """Load the entries of all submissions, and of the students who handed in nothing."""
    by_submission: dict[str, list[Stored]] = {}
    for stored in load_class(db, assignment):
        by_submission.setdefault(stored.submission.submission, []).append(stored)
    entries = [entry_of(notebooks) for notebooks in by_submission.values()]
    entries += _missing(entries, _students(db))
    return sorted(entries, key=lambda entry: (entry.assignment, entry.student.id))


def _students(db: Session) -> list[Student]:
    """Load all students of the gradebook."""
    table = api.Student.__table__
    names = (table.c[name] for name in ("first_name", "last_name", "email", "lms_user_id"))
    return [student_of(row) for row in db.execute(select(table.c.id.label("student"), *names))]


def _missing(entries: list[GradebookEntry], students: list[Student]) -> Iterator[GradebookEntry]:
    """Yield an entry for each student without a submission, for each assignment that anybody handed in."""
    worth = {entry.assignment: entry.max_score for entry in entries}
    handed_in = {(entry.student.id, entry.assignment) for entry in entries}
    for assignment, max_score in worth.items():
        for student in students:
            if (student.id, assignment) not in handed_in:
                nothing = Grade(
                    student=student.id,
                    assignment=assignment,
                    status="missing",
                    score=None,
                    max_score=max_score,
                    message="handed in nothing",
                )
                yield GradebookEntry(
                    student=student, assignment=assignment, grade=nothing, score=None, max_score=max_score
                )
