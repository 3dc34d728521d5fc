"""Loads the rows that the gradebook stores of submissions."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nbgrader import api
from sqlalchemy import Row, Select, Table, and_, bindparam, func, literal, select
from sqlalchemy.orm import Session

from grader.classes.gradebook.details import APPEALS, DETAILS, grade_in, has_table, line_of
from grader.classes.gradebook.errors import RecordError
from grader.records import Appeal, Grade

_students, _assignments, _notebooks = (each.__table__ for each in (api.Student, api.Assignment, api.Notebook))
_submissions, _submitted_notebooks = api.SubmittedAssignment.__table__, api.SubmittedNotebook.__table__
_grades, _comments = api.Grade.__table__, api.Comment.__table__
_cells, _grade_cells, _task_cells = (mapped.__table__ for mapped in (api.BaseCell, api.GradeCell, api.TaskCell))


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The rows of one submission: itself, its graded cells, its cells that may have a comment, its appeals."""

    submission: Row
    grades: Sequence[Row]
    comments: Sequence[Row]
    appeals: Sequence[Appeal] = ()

    @property
    def grade(self) -> Grade | None:
        """The grade that this grader recorded, without checks; None if it recorded none."""
        return grade_in(self.submission.summary)


def load_one(db: Session, student: str, assignment: str) -> Stored | None:
    """Load a student's submission of an assignment; None if the gradebook has none."""
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
    """Load a student's submission of an assignment; raise RecordError if the gradebook has none."""
    stored = load_one(db, student, assignment)
    if stored is None:
        raise RecordError(f"the gradebook holds no submission of {assignment} by {student!r}")
    return stored


def load_class(db: Session, assignment: str | None) -> Iterator[Stored]:
    """Load all submissions of an assignment, or with None of all assignments, in any order."""
    submissions = _submission_query(one=False, details=has_table(db))
    if assignment is not None:
        submissions = submissions.where(_assignments.c.name == assignment)
    grades, comments = _by_notebook(db, _grade_query(one=False)), _by_notebook(db, _comment_query(one=False))
    appeals = _appeals(db)
    for row in db.execute(submissions):
        own = row.submitted_notebook
        yield Stored(submission=row, grades=grades[own], comments=comments[own], appeals=appeals[own])


def _by_notebook(db: Session, query: Select) -> Mapping[str, list[Row]]:
    """Load rows of cells, by submitted notebook."""
    groups: Mapping[str, list[Row]] = defaultdict(list)
    for row in db.execute(query):
        groups[row.submitted_notebook].append(row)
    return groups


def _appeals(db: Session, notebook: str | None = None) -> Mapping[str, list[Appeal]]:
    """Load all appeals, or those of one submitted notebook, by submitted notebook; the oldest first."""
    found: Mapping[str, list[Appeal]] = defaultdict(list)
    if has_table(db, APPEALS):
        query = select(APPEALS).order_by(APPEALS.c.number)
        for row in db.execute(query if notebook is None else query.where(APPEALS.c.notebook_id == notebook)).mappings():
            values = dict(row)
            found[values.pop("notebook_id")].append(Appeal(**values))
    return found


def load_line(db: Session, stored: Stored) -> str | None:
    """Load the JSON line of a submission's whole grade; None if this grader did not record it."""
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
    """Build the query for submitted notebooks, with student, assignment and this grader's own row, if it has any."""
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
    """Build the query for graded cells."""
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
    """Build the query for cells that may have a comment; for a class, only those that have one by a person."""
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
    """Restrict a query to the cells of one submitted notebook; their list makes SQLite use the index over both."""
    of_notebook = select(_cells.c.id).where(_cells.c.notebook_id == bindparam("notebook"))
    return query.where(table.c.cell_id.in_(of_notebook), table.c.notebook_id == bindparam("submitted"))
