"""Grades → nbgrader's gradebook, so that its export and formgrader show them.

One writer, one transaction per grade. Rows are found by the tables' unique keys and not through nbgrader's
mapped objects: their computed columns read whole tables, and the cost of a class would grow with its square.

What a grade does to the scores:

    graded      auto scores are set; a manual score stays, and nbgrader lets it win.
    unreadable  auto scores are 0: the file is at fault.
    fault       no score changes, and the submission keeps its timestamp: what stands there is the score of an
                earlier submission, so it is marked "needs manual grade" and the comment says why. formgrader
                sees by the timestamp that the newer submission is not graded yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from nbformat import NotebookNode
from nbgrader import api
from sqlalchemy import and_, bindparam, insert, or_, select, update

from grader.declaration.lesson import Lesson
from grader.gradebook.cells import Cells, declare
from grader.gradebook.connection import attempt, connect
from grader.gradebook.errors import RecordError
from grader.records import Grade, Outcome, Verdict

HELD = (
    "The newest submission could not be graded: a fault of the grader. "
    "A score that stands here is of an earlier one."
)

# nbgrader's signature: (student, score, seconds late) → penalty, or None for none.
LatePenalty = Callable[[str, float, float], float | None]


# Built once: SQLAlchemy takes longer to build a question than SQLite to answer it. Each names what its tables'
# indices begin with: a question that reads a whole table costs more, the larger the class.
_handed_in, _books, _due = (
    mapped.__table__ for mapped in (api.SubmittedAssignment, api.SubmittedNotebook, api.Assignment)
)
SUBMISSION = (
    select(
        _handed_in.c.timestamp,
        _due.c.duedate,
        _books.c.id.label("notebook"),
        _books.c.late_submission_penalty.label("penalty"),
    )
    .join(_due, _due.c.id == _handed_in.c.assignment_id)
    .join(_books, and_(_books.c.notebook_id == bindparam("book"), _books.c.assignment_id == _handed_in.c.id))
    .where(
        _handed_in.c.assignment_id == bindparam("assignment"), _handed_in.c.student_id == bindparam("student")
    )
)
COLUMNS = ((api.Grade, ("auto_score", "needs_manual_grade")), (api.Comment, ("auto_comment",)))


def _rows_of(cells: Cells) -> tuple:
    """The questions for a submitted notebook's grades and comments."""
    questions = []
    for (mapped, names), ids in zip(COLUMNS, _all_cells(cells), strict=True):
        columns = mapped.__table__.c
        mine = and_(columns.cell_id.in_(ids), columns.notebook_id == bindparam("notebook"))
        questions.append(select(columns.cell_id, *(columns[name] for name in names)).where(mine))
    return tuple(questions)


def _all_cells(cells: Cells) -> tuple[tuple[str, ...], ...]:
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
    """A writer for the gradebook at `url`, which is made if it is not there.

    Args:
        url: a database URL, e.g. sqlite:///gradebook.db
        lessons: by assignment.
        masters: the student notebooks, by assignment: their cells are declared as nbgrader itself does it, so
            that `nbgrader generate_assignment` on the same gradebook finds nothing changed.
        course: nbgrader's course_id.
        late_penalty: of nbgrader's late-submission plugin; None leaves penalties as they are.

    Raises:
        RecordError: the gradebook cannot be opened.
    """
    gradebook = connect(url, course)
    try:
        yield GradeWriter(url, gradebook, lessons, masters or {}, late_penalty)
    finally:
        gradebook.close()


def handed_in(url: str, course: str) -> dict[tuple[str, str], datetime | None]:
    """When each submission in the gradebook came in, by student and assignment.

    Raises:
        RecordError: the gradebook cannot be read.
    """
    gradebook = connect(url, course)
    submission, assignment = api.SubmittedAssignment.__table__, api.Assignment.__table__
    query = select(submission.c.student_id, assignment.c.name, submission.c.timestamp).join(
        assignment, assignment.c.id == submission.c.assignment_id
    )
    try:
        rows = attempt(url, lambda: gradebook.db.execute(query).all())
    finally:
        gradebook.close()
    return {(student, name): timestamp for student, name, timestamp in rows}


class GradeWriter:
    """Puts grades into an open gradebook. Made by `open_gradebook`."""

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
        self._questions: dict[str, tuple] = {}  # as `_rows_of` has them, by assignment

    def record(self, grade: Grade, timestamp: datetime | None = None) -> None:
        """Record one grade.

        Args:
            timestamp: when it was submitted, if that is known; without a time zone it is UTC.

        Raises:
            StudentNameError: the student's name is no text; the next grade can be recorded.
            RecordError: the gradebook is locked, read-only, or does not fit the lesson.
        """
        if grade.assignment not in self.lessons:
            known = ", ".join(self.lessons) or "none"
            raise RecordError(
                f"{self.url}: {grade.student}'s grade is for {grade.assignment!r}, which is no lesson; "
                f"known are {known}. It was not recorded."
            )
        attempt(self.url, lambda: self._write(grade, timestamp), undo=self.gradebook.db.rollback)

    def date(self, student: str, assignment: str, timestamp: datetime | None) -> None:
        """Say when the submission came in that a student's scores are of.

        Raises:
            RecordError: the gradebook is locked or read-only.
        """
        attempt(self.url, lambda: self._date(student, assignment, timestamp), undo=self.gradebook.db.rollback)

    def _date(self, student: str, assignment: str, timestamp: datetime | None) -> None:
        submission = self.gradebook.find_submission(assignment, student)
        self._set(api.SubmittedAssignment, submission.id, timestamp=_utc(timestamp))
        self.gradebook.db.commit()

    def _write(self, grade: Grade, timestamp: datetime | None) -> None:
        if grade.assignment not in self._cells:
            self._cells[grade.assignment] = declare(
                self.url, self.gradebook, self.lessons[grade.assignment], self.masters.get(grade.assignment)
            )
            self._questions[grade.assignment] = _rows_of(self._cells[grade.assignment])
        cells = self._cells[grade.assignment]
        if self._stands(grade, timestamp, cells):
            return
        fault = grade.status == "fault"
        self._insert_once(api.Student, id=grade.student)
        keys = {"assignment_id": cells.assignment, "student_id": grade.student}
        submission, new = self._insert_once(api.SubmittedAssignment, **keys)
        if new or not fault:
            self._set(api.SubmittedAssignment, submission, timestamp=_utc(timestamp))
        keys = {"notebook_id": cells.notebook, "assignment_id": submission}
        notebook, _ = self._insert_once(api.SubmittedNotebook, **keys)
        scores, comments = _rows(grade, cells)
        self._fill(api.Grade, notebook, {cell: {} for cell in cells.other_grades} | scores)
        self._fill(api.Comment, notebook, {cell: {} for cell in cells.other_comments} | comments)
        if self.late_penalty and not fault:
            self._penalise(grade.student, cells, submission, notebook)
        self.gradebook.db.commit()

    def _stands(self, grade: Grade, timestamp: datetime | None, cells: Cells) -> bool:
        """Whether all of this is recorded already: the common case of a rerun, in three short questions."""
        if grade.status == "fault":
            return False
        keys = {"assignment": cells.assignment, "book": cells.notebook, "student": grade.student}
        row = self.gradebook.db.execute(SUBMISSION, keys).first()
        if row is None or row.timestamp != _utc(timestamp):
            return False
        if row.penalty is not None or (row.timestamp and row.duedate and row.timestamp > row.duedate):
            return False  # what being late costs may have changed
        asked = zip(self._questions[grade.assignment], _rows(grade, cells), _all_cells(cells), strict=True)
        for question, wanted, ids in asked:
            there = {
                found.cell_id: found._mapping
                for found in self.gradebook.db.execute(question, {"notebook": row.notebook})
            }
            if not there.keys() >= set(ids) or any(
                there[cell][name] != value
                for cell, values in wanted.items()
                for name, value in values.items()
            ):
                return False
        return True

    def _insert_once(self, mapped: type, **keys: str) -> tuple[str, bool]:
        """The id of the row with these keys, and whether it is new."""
        table = mapped.__table__
        matches = and_(*(table.c[name] == value for name, value in keys.items()))
        found = self.gradebook.db.execute(select(table.c.id).where(matches)).first()
        if found is not None:
            return found.id, False
        row = keys if "id" in keys else {"id": api.new_uuid(), **keys}
        self.gradebook.db.execute(insert(table).values(**row))
        return row["id"], True

    def _fill(self, mapped: type, notebook: str, wanted: Mapping[str, Mapping[str, Any]]) -> None:
        """Give a submitted notebook its rows, by cell; only what differs is written."""
        table = mapped.__table__
        mine = and_(table.c.cell_id.in_(wanted), table.c.notebook_id == notebook)
        there = {row.cell_id: row for row in self.gradebook.db.execute(select(table).where(mine))}
        new: dict[tuple[str, ...], list[dict[str, Any]]] = {}  # by the columns that are given
        for cell, values in wanted.items():
            if cell not in there:
                row = {"id": api.new_uuid(), "cell_id": cell, "notebook_id": notebook, **values}
                new.setdefault(tuple(values), []).append(row)
            elif any(there[cell]._mapping[name] != value for name, value in values.items()):
                self._set(mapped, there[cell].id, **values)
        for rows in new.values():
            self.gradebook.db.execute(insert(table), rows)

    def _set(self, mapped: type, id: str, **values: Any) -> None:
        table = mapped.__table__
        changed = or_(*(table.c[name].is_distinct_from(value) for name, value in values.items()))
        self.gradebook.db.execute(update(table).where(table.c.id == id, changed).values(**values))

    def _penalise(self, student: str, cells: Cells, submission: str, notebook: str) -> None:
        """As nbgrader's AssignLatePenalties: reset, and ask the plugin where the submission was late."""
        handed_in, due = api.SubmittedAssignment.__table__, api.Assignment.__table__
        row = self.gradebook.db.execute(
            select(handed_in.c.timestamp, handed_in.c.extension, due.c.duedate)
            .join(due, due.c.id == handed_in.c.assignment_id)
            .where(handed_in.c.id == submission)
        ).one()
        penalty = None
        if row.timestamp is not None and row.duedate is not None:
            late = (row.timestamp - row.duedate).total_seconds()
            late -= row.extension.total_seconds() if row.extension else 0.0
            if late > 0:
                score = self._score(cells, notebook)
                penalty = self.late_penalty(student, score, late)
                penalty = None if penalty is None else min(max(penalty, 0.0), score)
        self._set(api.SubmittedNotebook, notebook, late_submission_penalty=penalty)

    def _score(self, cells: Cells, notebook: str) -> float:
        grades = api.Grade.__table__
        mine = (*cells.grades.values(), *cells.other_grades)
        rows = self.gradebook.db.execute(
            select(grades.c.auto_score, grades.c.manual_score, grades.c.extra_credit).where(
                and_(grades.c.cell_id.in_(mine), grades.c.notebook_id == notebook)
            )
        )
        return sum(
            (auto if manual is None else manual) + (extra or 0.0)
            for auto, manual, extra in rows
            if auto is not None or manual is not None
        )


def _rows(grade: Grade, cells: Cells) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """What to set in nbgrader's grades and comments, by cell."""
    verdicts = {verdict.id: verdict for verdict in grade.verdicts}
    return (
        {cell: _scores(grade, verdicts.get(id)) for id, cell in cells.grades.items()},
        {cell: _comment(grade, verdicts.get(id)) for id, cell in cells.comments.items()},
    )


def _scores(grade: Grade, verdict: Verdict | None) -> dict[str, Any]:
    """What to set in nbgrader's row for one exercise. `manual_score` and `extra_credit` are never touched."""
    if grade.status == "unreadable":
        return {"auto_score": 0.0, "needs_manual_grade": False}
    if _is_held(grade, verdict):
        return {"needs_manual_grade": True}
    return {"auto_score": float(verdict.points), "needs_manual_grade": False}


def _comment(grade: Grade, verdict: Verdict | None) -> dict[str, str | None]:
    if grade.status == "unreadable":
        return {"auto_comment": grade.message}
    if _is_held(grade, verdict):
        return {"auto_comment": HELD}
    if verdict.outcome is Outcome.PASSED:
        return {"auto_comment": None}
    return {"auto_comment": " ".join(filter(None, (verdict.message, verdict.hint))) or None}


def _is_held(grade: Grade, verdict: Verdict | None) -> bool:
    # An exercise that nobody judged is no zero: nothing is scored by the absence of a verdict.
    return grade.status == "fault" or verdict is None or verdict.outcome is Outcome.FAULT


def _utc(moment: datetime | None) -> datetime | None:
    """nbgrader keeps UTC without a time zone."""
    return moment if moment is None or moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
