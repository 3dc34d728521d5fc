"""Writes a platform's list of a class into nbgrader's table of students."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbgrader import api
from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from grader.classes.gradebook.connection import attempt, opened
from grader.classes.gradebook.rows import begin_to_write, insert_once, set_columns
from grader.records import Student


@dataclass(frozen=True, kw_only=True)
class Named:
    """What a list changed."""

    completed: int  # students that the gradebook had, and that have the list's names now
    added: int
    not_listed: tuple[str, ...]  # students of the gradebook who are not on the list


def write_students(url: str, course: str, listed: Mapping[Student, Sequence[str]]) -> Named:
    """Give the students of a list their names, and add those whom the gradebook does not have.

    `listed` has for each student, whose id is the platform's number, other ids: the login, the school's number. A
    student is found by the platform's number if the gradebook has that from the platform's zip, or else by another id.
    If the gradebook goes by such other ids, students are added under these. Raise RecordError if it cannot be written.
    """
    with opened(url, course) as gradebook:
        return attempt(url, lambda: _write(gradebook.db, listed), undo=gradebook.db.rollback)


def _write(db: Session, listed: Mapping[Student, Sequence[str]]) -> Named:
    """Write all students in one transaction."""
    table = api.Student.__table__
    begin_to_write(db)
    stored = {row.id: row for row in db.execute(select(table.c.id, table.c.lms_user_id))}
    found = {student: _find(student.id, others, stored) for student, others in listed.items()}
    by_other_ids = any(id is not None and id != student.id for student, id in found.items())
    for student, others in listed.items():
        id = found[student] or (others[0] if by_other_ids and others else student.id)
        if found[student] is None:
            number = student.id if id == student.id else None
            insert_once(db, table, id=id)
            set_columns(db, table, id, lms_user_id=number)
        names = {"first_name": student.first_name, "last_name": student.last_name, "email": student.email}
        if told := {name: value for name, value in names.items() if value}:
            set_columns(db, table, id, **told)
    db.commit()
    known = set(filter(None, found.values()))
    return Named(
        completed=len(known),
        added=sum(id is None for id in found.values()),
        not_listed=tuple(sorted(stored.keys() - known)),
    )


def _find(number: str, others: Sequence[str], stored: Mapping[str, Row]) -> str | None:
    """Return the id under which the gradebook has a student; None if it has not."""
    if number in stored and stored[number].lms_user_id == number:
        return number
    return next((id for id in others if id in stored and not stored[id].lms_user_id), None)
