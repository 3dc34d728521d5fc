"""Writes grades into nbgrader's gradebook, so that its export and formgrader show them.

One process writes, with one transaction per grade. Queries use the tables' unique keys and not nbgrader's
mapped objects: the computed columns of those objects read whole tables, and the time would grow with the
square of the number of students.

How a grade changes the scores in the gradebook:

    graded      sets the auto scores. A manual score stays, and nbgrader prefers it.
    unreadable  sets the auto scores to 0: the file is at fault.
    fault       changes no score and keeps the submission's timestamp. The stored scores are those of an earlier
                submission, so they are marked "needs manual grade" and the comment says why. formgrader sees by
                the timestamp that the newer submission is not graded yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from nbformat import NotebookNode
from nbgrader import api
from sqlalchemy import Select, and_, bindparam, insert, or_, select, update

from grader.declaration.lesson import Lesson
from grader.gradebook.cells import Cells, declare
from grader.gradebook.connection import attempt, connect
from grader.gradebook.errors import RecordError
from grader.records import Grade, Outcome, Verdict

WITHHELD = (
    "The newest submission could not be graded: a fault of the grader. "
    "A score that stands here is of an earlier one."
)

# Takes (student, score, seconds late), as nbgrader's plugins do; returns the penalty, or None for none.
LatePenalty = Callable[[str, float, float], float | None]


# The queries of a rerun are built once: SQLAlchemy takes longer to build a query than SQLite to answer it.
# Each selects by the first columns of its tables' indices: the cost of a query that reads a whole table grows
# with the class.
_submitted_assignments, _submitted_notebooks, _assignments = (
    mapped.__table__ for mapped in (api.SubmittedAssignment, api.SubmittedNotebook, api.Assignment)
)
SUBMISSION_QUERY = (
    select(
        _submitted_assignments.c.timestamp,
        _assignments.c.duedate,
        _submitted_notebooks.c.id.label("submitted_notebook"),
        _submitted_notebooks.c.late_submission_penalty.label("penalty"),
    )
    .join(_assignments, _assignments.c.id == _submitted_assignments.c.assignment_id)
    .join(
        _submitted_notebooks,
        and_(
            _submitted_notebooks.c.notebook_id == bindparam("notebook"),
            _submitted_notebooks.c.assignment_id == _submitted_assignments.c.id,
        ),
    )
    .where(
        _submitted_assignments.c.assignment_id == bindparam("assignment"),
        _submitted_assignments.c.student_id == bindparam("student"),
    )
)
# Of each table, the columns that a grade sets.
COLUMNS = ((api.Grade, ("auto_score", "needs_manual_grade")), (api.Comment, ("auto_comment",)))


def _row_queries(cells: Cells) -> tuple[Select, ...]:
    """Build the two queries that select a submitted notebook's rows of grades and of comments."""
    queries = []
    for (mapped, names), ids in zip(COLUMNS, _cells_by_table(cells), strict=True):
        columns = mapped.__table__.c
        of_notebook = and_(columns.cell_id.in_(ids), columns.notebook_id == bindparam("submitted_notebook"))
        queries.append(select(columns.cell_id, *(columns[name] for name in names)).where(of_notebook))
    return tuple(queries)


def _cells_by_table(cells: Cells) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of all cells with a grade, and of all cells with a comment."""
    return (
        (*cells.grades.values(), *cells.other_grades),
        (*cells.comments.values(), *cells.other_comments),
    )


@contextmanager
def open_gradebook(
    url: str,
    lessons: Mapping[str, Lesson],
    masters: Mapping[str, NotebookNode] | None = None,
    course: str = "default_course",
    late_penalty: LatePenalty | None = None,
) -> Iterator[GradeWriter]:
    """Open a writer for the gradebook at `url`; create the gradebook if it does not exist.

    Args:
        url: a database URL, e.g. sqlite:///gradebook.db
        lessons: by assignment.
        masters: the student notebooks, by assignment. Their cells are declared as nbgrader declares them, so
            that `nbgrader generate_assignment` on the same gradebook finds nothing changed.
        course: nbgrader's course_id.
        late_penalty: the penalty function of nbgrader's late-submission plugin; None leaves penalties as they
            are.

    Raises:
        RecordError: the gradebook cannot be opened.
    """
    gradebook = connect(url, course)
    try:
        yield GradeWriter(url, gradebook, lessons, masters or {}, late_penalty)
    finally:
        gradebook.close()


def submission_times(url: str, course: str) -> dict[tuple[str, str], datetime | None]:
    """Return when each submission in the gradebook was submitted, by student and assignment.

    Raises:
        RecordError: the gradebook cannot be read.
    """
    gradebook = connect(url, course)
    query = select(
        _submitted_assignments.c.student_id, _assignments.c.name, _submitted_assignments.c.timestamp
    ).join(_assignments, _assignments.c.id == _submitted_assignments.c.assignment_id)
    try:
        rows = attempt(url, lambda: gradebook.db.execute(query).all())
    finally:
        gradebook.close()
    return {(student, name): timestamp for student, name, timestamp in rows}


class GradeWriter:
    """Writes grades into an open gradebook. `open_gradebook` makes it."""

    def __init__(
        self,
        url: str,
        gradebook: api.Gradebook,
        lessons: Mapping[str, Lesson],
        masters: Mapping[str, NotebookNode],
        late_penalty: LatePenalty | None,
    ) -> None:
        self.url = url
        self.gradebook = gradebook
        self.lessons = lessons
        self.masters = masters
        self.late_penalty = late_penalty
        self._cells: dict[str, Cells] = {}
        self._row_queries: dict[str, tuple[Select, ...]] = {}  # by assignment

    def record(self, grade: Grade, timestamp: datetime | None = None) -> None:
        """Record one grade.

        Args:
            timestamp: when it was submitted; None if that is not known; UTC if it has no time zone.

        Raises:
            StudentNameError: the student's name cannot be encoded; the next grade can be recorded.
            RecordError: the gradebook is locked, read-only, or does not fit the lesson.
        """
        if grade.assignment not in self.lessons:
            assignments = ", ".join(self.lessons) or "none"
            raise RecordError(
                f"{self.url}: {grade.student}'s grade is for {grade.assignment!r}, which is no lesson; "
                f"known are {assignments}. It was not recorded."
            )
        attempt(self.url, lambda: self._write(grade, timestamp), undo=self.gradebook.db.rollback)

    def set_timestamp(self, student: str, assignment: str, timestamp: datetime | None) -> None:
        """Set the time of submission that the gradebook stores for a student's scores.

        Raises:
            RecordError: the gradebook is locked or read-only.
        """
        attempt(
            self.url,
            lambda: self._set_timestamp(student, assignment, timestamp),
            undo=self.gradebook.db.rollback,
        )

    def _set_timestamp(self, student: str, assignment: str, timestamp: datetime | None) -> None:
        submission = self.gradebook.find_submission(assignment, student)
        self._set(api.SubmittedAssignment, submission.id, timestamp=_utc(timestamp))
        self.gradebook.db.commit()

    def _write(self, grade: Grade, timestamp: datetime | None) -> None:
        """Write one grade in one transaction; declare its lesson before the first grade of an assignment."""
        if grade.assignment not in self._cells:
            self._cells[grade.assignment] = declare(
                self.url, self.gradebook, self.lessons[grade.assignment], self.masters.get(grade.assignment)
            )
            self._row_queries[grade.assignment] = _row_queries(self._cells[grade.assignment])
        cells = self._cells[grade.assignment]
        if self._is_recorded(grade, timestamp, cells):
            return
        fault = grade.status == "fault"
        self._insert_once(api.Student, id=grade.student)
        keys = {"assignment_id": cells.assignment, "student_id": grade.student}
        submission, new = self._insert_once(api.SubmittedAssignment, **keys)
        if new or not fault:
            self._set(api.SubmittedAssignment, submission, timestamp=_utc(timestamp))
        keys = {"notebook_id": cells.notebook, "assignment_id": submission}
        notebook, _ = self._insert_once(api.SubmittedNotebook, **keys)
        scores, comments = _wanted_rows(grade, cells)
        self._fill(api.Grade, notebook, {**{cell: {} for cell in cells.other_grades}, **scores})
        self._fill(api.Comment, notebook, {**{cell: {} for cell in cells.other_comments}, **comments})
        if self.late_penalty and not fault:
            self._set_penalty(self.late_penalty, grade.student, cells, submission, notebook)
        self.gradebook.db.commit()

    def _is_recorded(self, grade: Grade, timestamp: datetime | None, cells: Cells) -> bool:
        """Tell by three short queries whether the gradebook has all of a grade already, as in most reruns.

        The answer is no for a fault, and for a submission that is late or has a penalty: `_write` then does
        all.
        """
        if grade.status == "fault":
            return False
        keys = {"assignment": cells.assignment, "notebook": cells.notebook, "student": grade.student}
        row = self.gradebook.db.execute(SUBMISSION_QUERY, keys).first()
        if row is None or row.timestamp != _utc(timestamp):
            return False
        if row.penalty is not None or (row.timestamp and row.duedate and row.timestamp > row.duedate):
            return False  # the penalty for being late may have changed
        queries = self._row_queries[grade.assignment]
        tables = zip(queries, _wanted_rows(grade, cells), _cells_by_table(cells), strict=True)
        for query, wanted, ids in tables:
            submitted_notebook = {"submitted_notebook": row.submitted_notebook}
            stored = {
                stored_row.cell_id: stored_row._mapping
                for stored_row in self.gradebook.db.execute(query, submitted_notebook)
            }
            if not stored.keys() >= set(ids) or any(
                stored[cell][name] != value
                for cell, values in wanted.items()
                for name, value in values.items()
            ):
                return False
        return True

    def _insert_once(self, mapped: Any, **keys: str) -> tuple[str, bool]:
        """Find or insert the row with these keys; return its id, and whether it is new."""
        table = mapped.__table__
        matches = and_(*(table.c[name] == value for name, value in keys.items()))
        stored = self.gradebook.db.execute(select(table.c.id).where(matches)).first()
        if stored is not None:
            return stored.id, False
        row = keys if "id" in keys else {"id": api.new_uuid(), **keys}
        self.gradebook.db.execute(insert(table).values(**row))
        return row["id"], True

    def _fill(self, mapped: Any, notebook: str, wanted: Mapping[str, Mapping[str, Any]]) -> None:
        """Insert a submitted notebook's missing rows into a table, and update those that differ.

        Args:
            mapped: nbgrader's class of the table.
            notebook: the id of the submitted notebook.
            wanted: the id of each cell → the columns to set in its row.
        """
        table = mapped.__table__
        of_notebook = and_(table.c.cell_id.in_(wanted), table.c.notebook_id == notebook)
        stored = {row.cell_id: row for row in self.gradebook.db.execute(select(table).where(of_notebook))}
        # Names of the columns that are set → rows to insert together.
        new: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for cell, values in wanted.items():
            if cell not in stored:
                row = {"id": api.new_uuid(), "cell_id": cell, "notebook_id": notebook, **values}
                new.setdefault(tuple(values), []).append(row)
            elif any(stored[cell]._mapping[name] != value for name, value in values.items()):
                self._set(mapped, stored[cell].id, **values)
        for rows in new.values():
            self.gradebook.db.execute(insert(table), rows)

    def _set(self, mapped: Any, id: str, **values: Any) -> None:
        """Set columns of the row with this id; write nothing if the row has these values already."""
        table = mapped.__table__
        changed = or_(*(table.c[name].is_distinct_from(value) for name, value in values.items()))
        self.gradebook.db.execute(update(table).where(table.c.id == id, changed).values(**values))

    def _set_penalty(
        self, late_penalty: LatePenalty, student: str, cells: Cells, submission: str, notebook: str
    ) -> None:
        """Set the penalty as nbgrader's AssignLatePenalties does.

        A submission that is later than due date and extension gets what `late_penalty` returns, at least 0
        and at most the score. Any other submission gets no penalty.
        """
        row = self.gradebook.db.execute(
            select(
                _submitted_assignments.c.timestamp, _submitted_assignments.c.extension, _assignments.c.duedate
            )
            .join(_assignments, _assignments.c.id == _submitted_assignments.c.assignment_id)
            .where(_submitted_assignments.c.id == submission)
        ).one()
        penalty = None
        if row.timestamp is not None and row.duedate is not None:
            late = (row.timestamp - row.duedate).total_seconds()
            late -= row.extension.total_seconds() if row.extension else 0.0
            if late > 0:
                score = self._score(cells, notebook)
                penalty = late_penalty(student, score, late)
                penalty = None if penalty is None else min(max(penalty, 0.0), score)
        self._set(api.SubmittedNotebook, notebook, late_submission_penalty=penalty)

    def _score(self, cells: Cells, notebook: str) -> float:
        """Return a submitted notebook's score, with manual scores and extra credit, before the penalty."""
        grades = api.Grade.__table__
        graded_cells = (*cells.grades.values(), *cells.other_grades)
        rows = self.gradebook.db.execute(
            select(grades.c.auto_score, grades.c.manual_score, grades.c.extra_credit).where(
                and_(grades.c.cell_id.in_(graded_cells), grades.c.notebook_id == notebook)
            )
        )
        return sum(
            (auto if manual is None else manual) + (extra or 0.0)
            for auto, manual, extra in rows
            if auto is not None or manual is not None
        )


def _wanted_rows(grade: Grade, cells: Cells) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return for the tables of grades and comments: each cell's id → the columns to set in its row."""
    verdicts = {verdict.id: verdict for verdict in grade.verdicts}
    return (
        {cell: _scores(grade, verdicts.get(id)) for id, cell in cells.grades.items()},
        {cell: _comment(grade, verdicts.get(id)) for id, cell in cells.comments.items()},
    )


# An exercise without a verdict is marked "needs manual grade" and keeps its stored score: a missing verdict
# does not set a score.


def _scores(grade: Grade, verdict: Verdict | None) -> dict[str, Any]:
    """Return the columns to set in an exercise's row of grades; never `manual_score` and `extra_credit`."""
    if grade.status == "unreadable":
        return {"auto_score": 0.0, "needs_manual_grade": False}
    if verdict is None or _is_withheld(grade, verdict):
        return {"needs_manual_grade": True}
    return {"auto_score": float(verdict.points), "needs_manual_grade": False}


def _comment(grade: Grade, verdict: Verdict | None) -> dict[str, str | None]:
    """Return the columns to set in an exercise's row of comments."""
    if grade.status == "unreadable":
        return {"auto_comment": grade.message}
    if verdict is None or _is_withheld(grade, verdict):
        return {"auto_comment": WITHHELD}
    if verdict.outcome is Outcome.PASSED:
        return {"auto_comment": None}
    return {"auto_comment": " ".join(filter(None, (verdict.message, verdict.hint))) or None}


def _is_withheld(grade: Grade, verdict: Verdict) -> bool:
    """Tell whether a fault of the grader left the exercise without a score."""
    return grade.status == "fault" or verdict.outcome is Outcome.FAULT


def _utc(moment: datetime | None) -> datetime | None:
    """Convert a time to UTC without a zone, as nbgrader stores it; a time without a zone is UTC already."""
    return moment if moment is None or moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
