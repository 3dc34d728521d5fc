"""The rows that the gradebook stores for submissions: nbgrader's rows, and rows of this grader's own tables.

nbgrader stores only points and comments. The table DETAILS contains the rest of each submitted
notebook, and is written in the same transaction: the whole grade, the key under which a rerun finds
it, and the reason why a newer submission could not be graded. The table APPEALS contains the
appeals. nbgrader neither reads nor changes these two tables. If nbgrader removes a submission, its
rows in them are never found again.
"""

import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from nbgrader import api
from sqlalchemy import (
    Column,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    Select,
    String,
    Table,
    Text,
    and_,
    bindparam,
    func,
    inspect,
    literal,
    select,
)
from sqlalchemy.orm import Session

from grader.classes.gradebook.errors import RecordError
from grader.records import Appeal, Grade
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
APPEALS = Table(  # all columns but the first two are fields of `Appeal`
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
    """Create this grader's own tables in a gradebook that lacks them."""
    METADATA.create_all(db.get_bind())


def has_table(db: Session, table: Table = DETAILS) -> bool:
    """Return True if a gradebook has one of this grader's own tables.

    Without DETAILS, this grader has never written into the gradebook. Earlier versions of the
    grader made no table APPEALS. A session does not look again once it has found the table.
    """
    if not db.info.get(table.name):
        db.info[table.name] = inspect(db.get_bind()).has_table(table.name)
    return db.info[table.name]


def without_checks(grade: Grade) -> Grade:
    """Return a grade without checks, heatmaps and second verdicts (`other`), which are most of its size.

    Scores, tables and class pages do not need these parts.
    """
    verdicts = tuple(replace(verdict, checks=(), heatmaps=(), other=None) for verdict in grade.verdicts)
    return replace(grade, verdicts=verdicts)


def row_of(grade: Grade, key: str, notebook_sha256: str) -> dict[str, Any]:
    """Return the columns that store a grade in DETAILS, except `notebook_id`.

    If a grade was withheld because of a grader error, its key is not stored, so that the next run
    grades the submission again.
    """
    return {
        "key": "" if grade.fault else key,
        "notebook_sha256": notebook_sha256,
        "summary": to_json(without_checks(grade)),
        "line": zlib.compress(to_json(grade).encode("ascii")),
        "fault": grade.fault,
    }


def grade_in(text: str | None) -> Grade | None:
    """Return the grade in the column `summary` or in a JSON line of the column `line`.

    Return None if `text` is None, or if an incompatible version of the grader wrote it.
    """
    if text is None:
        return None
    try:
        return from_json(text)
    except ValueError:
        return None


def line_of(compressed: bytes) -> str:
    """Return the JSON line of a grade that the column `line` contains in compressed form."""
    return zlib.decompress(compressed).decode("ascii")


_students, _assignments, _notebooks = (each.__table__ for each in (api.Student, api.Assignment, api.Notebook))
_submissions, _submitted_notebooks = api.SubmittedAssignment.__table__, api.SubmittedNotebook.__table__
_grades, _comments = api.Grade.__table__, api.Comment.__table__
_cells, _grade_cells, _task_cells = (mapped.__table__ for mapped in (api.BaseCell, api.GradeCell, api.TaskCell))


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The rows of one submission: itself, its graded cells, its cells that may have a comment, and its appeals."""

    submission: Row
    grades: Sequence[Row]
    comments: Sequence[Row]
    appeals: Sequence[Appeal] = ()

    @property
    def grade(self) -> Grade | None:
        """The grade that this grader recorded, without checks, or None if only nbgrader recorded the submission."""
        return grade_in(self.submission.summary)


def load_one(db: Session, student: str, assignment: str) -> Stored | None:
    """Load a student's submission of an assignment, or return None if the gradebook does not contain it."""
    keys = {"student": student, "assignment": assignment}
    submission = db.execute(_submission_query(one=True, details=has_table(db)), keys).first()
    if submission is None:
        return None
    grades, comments = (
        db.execute(query, {"notebook": submission.notebook, "submitted": submission.submitted_notebook}).all()
        for query in (_grade_query(one=True), _comment_query(one=True))
    )
    own = submission.submitted_notebook
    return Stored(submission=submission, grades=grades, comments=comments, appeals=_appeals(db, own)[own])


def load_known(db: Session, student: str, assignment: str) -> Stored:
    """Load a student's submission of an assignment.

    Raises:
        RecordError: the gradebook does not contain it.
    """
    stored = load_one(db, student, assignment)
    if stored is None:
        raise RecordError(f"the gradebook contains no submission of {assignment} by {student!r}")
    return stored


def load_class(db: Session, assignment: str | None) -> Iterator[Stored]:
    """Yield all submissions of an assignment, in any order.

    If `assignment` is None, yield the submissions of all assignments.
    """
    submissions = _submission_query(one=False, details=has_table(db))
    if assignment is not None:
        submissions = submissions.where(_assignments.c.name == assignment)
    grades, comments = _by_notebook(db, _grade_query(one=False)), _by_notebook(db, _comment_query(one=False))
    appeals = _appeals(db)
    for row in db.execute(submissions):
        own = row.submitted_notebook
        yield Stored(submission=row, grades=grades[own], comments=comments[own], appeals=appeals[own])


def _by_notebook(db: Session, query: Select) -> Mapping[str, list[Row]]:
    """Return the rows of a query for cells, grouped by submitted notebook."""
    groups: Mapping[str, list[Row]] = defaultdict(list)
    for row in db.execute(query):
        groups[row.submitted_notebook].append(row)
    return groups


def _appeals(db: Session, notebook: str | None = None) -> Mapping[str, list[Appeal]]:
    """Return the appeals of a submitted notebook, or all appeals if `notebook` is None.

    The appeals are grouped by submitted notebook, the oldest first.
    """
    found: Mapping[str, list[Appeal]] = defaultdict(list)
    if has_table(db, APPEALS):
        query = select(APPEALS).order_by(APPEALS.c.number)
        for row in db.execute(query if notebook is None else query.where(APPEALS.c.notebook_id == notebook)).mappings():
            values = dict(row)
            found[values.pop("notebook_id")].append(Appeal(**values))
    return found


def load_line(db: Session, stored: Stored) -> str | None:
    """Return the JSON line of a submission's whole grade, or None if this grader did not record the submission."""
    if stored.submission.summary is None:
        return None
    own = DETAILS.c.notebook_id == stored.submission.submitted_notebook
    compressed = db.execute(select(DETAILS.c.line).where(own)).scalar()
    return None if compressed is None else line_of(compressed)


# SQLAlchemy takes longer to build a query than SQLite to answer it, so each is built once. Each query for one
# submission selects by the first columns of its tables' indices: the cost of a query that reads a whole table
# grows with the class.


@cache
def _submission_query(*, one: bool, details: bool) -> Select:
    """Return the query for submitted notebooks, with their students and assignments.

    Args:
        one: limit the query to one student and assignment.
        details: include this grader's own row; False if the gradebook lacks the table.
    """
    rows = (
        _assignments.join(_notebooks, _notebooks.c.assignment_id == _assignments.c.id)
        .join(_submissions, _submissions.c.assignment_id == _assignments.c.id)
        .join(_students, _students.c.id == _submissions.c.student_id)
        .join(
            _submitted_notebooks,
            and_(
                _submitted_notebooks.c.notebook_id == _notebooks.c.id,
                _submitted_notebooks.c.assignment_id == _submissions.c.id,
            ),
        )
    )
    if details:
        rows = rows.outerjoin(DETAILS, DETAILS.c.notebook_id == _submitted_notebooks.c.id)
    own = ("key", "notebook_sha256", "summary", "fault")
    query = select(
        _students.c.id.label("student"),
        *(_students.c[name] for name in ("first_name", "last_name", "email", "lms_user_id")),
        _assignments.c.name.label("assignment"),
        _assignments.c.duedate,
        _notebooks.c.id.label("notebook"),
        _submissions.c.id.label("submission"),
        _submissions.c.timestamp,
        _submissions.c.extension,
        _submitted_notebooks.c.id.label("submitted_notebook"),
        _submitted_notebooks.c.late_submission_penalty.label("penalty"),
        *(DETAILS.c[name] if details else literal(None).label(name) for name in own),
    ).select_from(rows)
    if one:
        query = query.where(
            _assignments.c.name == bindparam("assignment"),
            _notebooks.c.name == bindparam("assignment"),
            _submissions.c.student_id == bindparam("student"),
        )
    return query


@cache
def _grade_query(*, one: bool) -> Select:
    """Return the query for the rows of graded cells."""
    rows = (
        _cells.join(_grades, _grades.c.cell_id == _cells.c.id)
        .outerjoin(_grade_cells, _grade_cells.c.id == _cells.c.id)
        .outerjoin(_task_cells, _task_cells.c.id == _cells.c.id)
    )
    query = select(
        _grades.c.id,
        _grades.c.notebook_id.label("submitted_notebook"),
        _grades.c.cell_id,
        _cells.c.name.label("cell"),
        *(_grades.c[name] for name in ("auto_score", "manual_score", "extra_credit", "needs_manual_grade")),
        func.coalesce(_grade_cells.c.max_score, _task_cells.c.max_score, 0.0).label("max_score"),
    ).select_from(rows)
    return _of_submission(query, _grades) if one else query


@cache
def _comment_query(*, one: bool) -> Select:
    """Return the query for cells that may have a comment. For a class, select only comments by people."""
    query = select(
        _comments.c.id,
        _comments.c.notebook_id.label("submitted_notebook"),
        _comments.c.cell_id,
        _cells.c.name.label("cell"),
        _comments.c.auto_comment,
        _comments.c.manual_comment,
    ).select_from(_cells.join(_comments, _comments.c.cell_id == _cells.c.id))
    return _of_submission(query, _comments) if one else query.where(_comments.c.manual_comment.is_not(None))


def _of_submission(query: Select, table: Table) -> Select:
    """Limit a query to the cells of one submitted notebook.

    The list of the cells is part of the query, so that SQLite uses the index over cell and
    notebook.
    """
    of_notebook = select(_cells.c.id).where(_cells.c.notebook_id == bindparam("notebook"))
    return query.where(table.c.cell_id.in_(of_notebook), table.c.notebook_id == bindparam("submitted"))
