"""The gradebook's tables of this grader, beside nbgrader's: what it found, one row for each submitted notebook, and appeals.

nbgrader stores points and comments, and nothing else. The first table has the rest, and is written in the same
transaction: the whole grade, the key under which a rerun finds it, and why a newer version could not be
graded. nbgrader neither reads nor changes it; a row whose submission nbgrader removed is never found again.
"""

import zlib
from dataclasses import replace
from typing import Any

from sqlalchemy import Column, Integer, LargeBinary, MetaData, String, Table, Text, inspect
from sqlalchemy.orm import Session

from grader.records import Grade
from grader.report.jsonl import from_json, to_json

METADATA = MetaData()  # of this grader's own tables
DETAILS = Table(
    "grader_result",
    METADATA,
    Column("notebook_id", String(32), primary_key=True),  # of nbgrader's table submitted_notebook
    Column("key", Text, nullable=False),  # of all that the grade depends on; "" if it must not be used again
    Column("notebook_sha256", Text, nullable=False),  # of the executed notebook
    Column("summary", Text, nullable=False),  # JSON: the grade as `without_checks` reduces it
    Column("line", LargeBinary, nullable=False),  # the whole grade as a JSON line, compressed
    Column("fault", Text, nullable=False),  # why a newer version could not be graded; "" if it was
)
APPEALS = Table(  # but for the first two, columns are the fields of `Appeal`
    "grader_appeal",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("notebook_id", String(32), nullable=False, index=True),  # of nbgrader's table submitted_notebook
    *(
        Column(name, Text, nullable=False)
        for name in ("exercise", "text", "submission_sha256", "made", "outcome", "decided")
    ),
)


def make_tables(db: Session) -> None:
    """Make this grader's tables in a gradebook that lacks them."""
    METADATA.create_all(db.get_bind())


def has_table(db: Session, table: Table = DETAILS) -> bool:
    """Tell whether a gradebook has one of this grader's own tables; a session that found it does not ask again.

    Where it lacks DETAILS, this grader never wrote into it; an earlier version made no table of appeals.
    """
    if not db.info.get(table.name):
        db.info[table.name] = inspect(db.get_bind()).has_table(table.name)
    return db.info[table.name]


def without_checks(grade: Grade) -> Grade:
    """Return a grade without checks, heatmaps and second verdicts (`other`), which are most of its size.

    Scores, tables and class pages need none of them.
    """
    verdicts = tuple(replace(verdict, checks=(), heatmaps=(), other=None) for verdict in grade.verdicts)
    return replace(grade, verdicts=verdicts)


def row_of(grade: Grade, key: str, notebook_sha256: str) -> dict[str, Any]:
    """Return the columns that store a grade, without `notebook_id`.

    The key of a fault is not stored, so that the next run grades the submission again.
    """
    return {
        "key": "" if grade.fault else key,
        "notebook_sha256": notebook_sha256,
        "summary": to_json(without_checks(grade)),
        "line": zlib.compress(to_json(grade).encode("ascii")),
        "fault": grade.fault,
    }


def grade_in(text: str | None) -> Grade | None:
    """Read a grade from the column `summary`, or from its JSON line; None without one, or if another version wrote it."""
    if text is None:
        return None
    try:
        return from_json(text)
    except ValueError:
        return None


def line_of(compressed: bytes) -> str:
    """Read a grade's JSON line from the column `line`."""
    return zlib.decompress(compressed).decode("ascii")
