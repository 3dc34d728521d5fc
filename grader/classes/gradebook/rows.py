"""Writes rows of nbgrader's tables: single rows by their unique keys, and a platform's class list as students.

Rows that need no change stay untouched. This module does not use nbgrader's mapped objects, because
their computed columns read whole tables. The time would grow with the square of the number of
students.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbgrader import api
from sqlalchemy import Row, Table, and_, insert, or_, select, update
from sqlalchemy.orm import Session

from grader.classes.gradebook.connection import attempt, opened
from grader.records import Student


def begin_to_write(db: Session) -> None:
    """Keep other programs from writing until the next commit, so that the values read until then stay true.

    SQLite by itself does so only from the first change on. A score that somebody saves in
    formgrader between our reading and our writing would be overlooked.
    """
    if db.get_bind().dialect.name == "sqlite":
        db.connection().exec_driver_sql("BEGIN IMMEDIATE")


def insert_once(db: Session, table: Table, **keys: str) -> tuple[str, bool]:
    """Find or insert the row with these keys. Return its id, and True if it is new."""
    matches = and_(*(table.c[name] == value for name, value in keys.items()))
    stored = db.execute(select(table.c.id).where(matches)).first()
    if stored is not None:
        return stored.id, False
    row = keys if "id" in keys else {"id": api.new_uuid(), **keys}
    db.execute(insert(table).values(**row))
    return row["id"], True


def set_columns(db: Session, table: Table, id: str, **values: Any) -> None:
    """Set columns of the row with this id. Write nothing if the row already has these values."""
    changed = or_(*(table.c[name].is_distinct_from(value) for name, value in values.items()))
    db.execute(update(table).where(table.c.id == id, changed).values(**values))


def set_if_empty(db: Session, table: Table, id: str, **values: str) -> None:
    """Set text columns of the row with this id, but only columns that are empty, so that text from people is kept."""
    for name, value in values.items():
        if value:
            empty = or_(table.c[name].is_(None), table.c[name] == "")
            db.execute(update(table).where(table.c.id == id, empty).values(**{name: value}))


def fill(
    db: Session, table: Table, notebook: str, stored: Iterable[Row], wanted: Mapping[str, Mapping[str, Any]]
) -> None:
    """Insert the rows that a table lacks for the cells of a submitted notebook, and update rows that differ.

    Args:
        table: nbgrader's table of grades or of comments.
        notebook: the id of the submitted notebook.
        stored: the rows that the table has already, with `id`, `cell_id` and the columns to set.
        wanted: the id of each cell → the columns to set in its row.
    """
    rows = {row.cell_id: row for row in stored}
    # Names of the columns that are set → rows to insert together.
    new: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for cell, values in wanted.items():
        if cell not in rows:
            row = {"id": api.new_uuid(), "cell_id": cell, "notebook_id": notebook, **values}
            new.setdefault(tuple(values), []).append(row)
        elif _differs(rows[cell], values):
            set_columns(db, table, rows[cell].id, **values)
    for inserted in new.values():
        db.execute(insert(table), inserted)


def is_filled(stored: Iterable[Row], wanted: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return True if `fill` with these arguments would change nothing."""
    rows = {row.cell_id: row for row in stored}
    return all(cell in rows and not _differs(rows[cell], values) for cell, values in wanted.items())


def _differs(row: Row, values: Mapping[str, Any]) -> bool:
    """Return True if a column of the row differs from the wanted value."""
    return any(row._mapping[name] != value for name, value in values.items())


@dataclass(frozen=True, kw_only=True)
class Named:
    """The result of writing a class list into the gradebook."""

    completed: int  # students that the gradebook had, and that have the list's names now
    added: int
    not_listed: tuple[str, ...]  # students in the gradebook who are not in the list


def write_students(url: str, course: str, listed: Mapping[Student, Sequence[str]]) -> Named:
    """Set the names of the students in a class list, and add students that the gradebook lacks.

    A student in the gradebook is found by the platform's number, if the gradebook knows it from the
    platform's zip. Otherwise the student is found by another id. If students were found by other
    ids, new students are added under their other ids, too.

    Args:
        listed: each student with the platform's number as id → other ids, such as the login or the
            school's number.

    Raises:
        RecordError: the gradebook cannot be written.
    """
    with opened(url, course) as gradebook:
        return attempt(url, lambda: _write(gradebook.db, listed), undo=gradebook.db.rollback)


def _write(db: Session, listed: Mapping[Student, Sequence[str]]) -> Named:
    """Write the names of all listed students in one transaction."""
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
    """Return a student's id in the gradebook, or None if the gradebook does not contain the student.

    Args:
        number: the platform's number of the student.
        others: other ids of the student.
    """
    if number in stored and stored[number].lms_user_id == number:
        return number
    return next((id for id in others if id in stored and not stored[id].lms_user_id), None)
