"""Writes single rows of nbgrader's tables by their unique keys, and leaves rows alone that need no change.

Not through nbgrader's mapped objects: their computed columns read whole tables, and the time would grow with
the square of the number of students.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from nbgrader import api
from sqlalchemy import Row, Table, and_, insert, or_, select, update
from sqlalchemy.orm import Session


def begin_to_write(db: Session) -> None:
    """Keep other programs from writing until the next commit, so that what is read from now on stays true.

    SQLite would only do so from the first change on, and a score that somebody saves in formgrader between reading
    and writing would be overlooked.
    """
    if db.get_bind().dialect.name == "sqlite":
        db.connection().exec_driver_sql("BEGIN IMMEDIATE")


def insert_once(db: Session, table: Table, **keys: str) -> tuple[str, bool]:
    """Find or insert the row with these keys; return its id, and whether it is new."""
    matches = and_(*(table.c[name] == value for name, value in keys.items()))
    stored = db.execute(select(table.c.id).where(matches)).first()
    if stored is not None:
        return stored.id, False
    row = keys if "id" in keys else {"id": api.new_uuid(), **keys}
    db.execute(insert(table).values(**row))
    return row["id"], True


def set_columns(db: Session, table: Table, id: str, **values: Any) -> None:
    """Set columns of the row with this id; write nothing if the row has these values already."""
    changed = or_(*(table.c[name].is_distinct_from(value) for name, value in values.items()))
    db.execute(update(table).where(table.c.id == id, changed).values(**values))


def set_if_empty(db: Session, table: Table, id: str, **values: str) -> None:
    """Set text columns of the row with this id where they are empty: what a person wrote stays."""
    for name, value in values.items():
        if value:
            empty = or_(table.c[name].is_(None), table.c[name] == "")
            db.execute(update(table).where(table.c.id == id, empty).values(**{name: value}))


def fill(
    db: Session, table: Table, notebook: str, stored: Iterable[Row], wanted: Mapping[str, Mapping[str, Any]]
) -> None:
    """Insert a submitted notebook's missing rows of cells into a table, and update those that differ.

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
    """Tell whether `fill` with these arguments would change nothing."""
    rows = {row.cell_id: row for row in stored}
    return all(cell in rows and not _differs(rows[cell], values) for cell, values in wanted.items())


def _differs(row: Row, values: Mapping[str, Any]) -> bool:
    """Tell whether a column of the row has another value than the wanted one."""
    return any(row._mapping[name] != value for name, value in values.items())
