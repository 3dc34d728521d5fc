"""The gradebook's table of appeals: what students asked for, and whether somebody has decided.

What an instructor decides is in nbgrader's own columns, and nowhere else: points in `manual_score` of the exercise's
cell, words in `manual_comment` of its answer. So formgrader, pages and exports show them like any points by hand.
"""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Column, Integer, Row, String, Table, Text, select
from sqlalchemy.orm import Session

from grader.classes.gradebook.details import METADATA, has_table
from grader.records import Appeal

APPEALS = Table(
    "grader_appeal",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("notebook_id", String(32), nullable=False, index=True),  # of nbgrader's table submitted_notebook
    Column("exercise", Text, nullable=False),
    Column("text", Text, nullable=False),  # as the student wrote it
    Column("submission_sha256", Text, nullable=False),
    Column("made", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("decided", Text, nullable=False),
)


def appeals_of(db: Session, notebook: str) -> Sequence[Appeal]:
    """Load the appeals of one submitted notebook, the oldest first."""
    if not has_table(db, APPEALS):
        return ()
    rows = db.execute(select(APPEALS).where(APPEALS.c.notebook_id == notebook).order_by(APPEALS.c.number))
    return tuple(map(_appeal, rows))


def appeals_of_class(db: Session) -> Mapping[str, Sequence[Appeal]]:
    """Load all appeals, by submitted notebook."""
    rows: Iterable[Row] = db.execute(select(APPEALS).order_by(APPEALS.c.number)) if has_table(db, APPEALS) else ()
    by_notebook: dict[str, list[Appeal]] = {}
    for row in rows:
        by_notebook.setdefault(row.notebook_id, []).append(_appeal(row))
    return by_notebook


def _appeal(row: Row) -> Appeal:
    return Appeal(**{column.name: row._mapping[column] for column in APPEALS.c if column.name != "notebook_id"})
