"""Writes grades into nbgrader's gradebook, so that its export and formgrader show them.

One process writes, and each grade is one transaction. nbgrader's tables get scores and comments.
This grader's own table gets the rest of the grade.

How a grade changes the scores in the gradebook, by its status:

    graded      Sets the automatic scores. A manual score stays, and nbgrader prefers it. If the submission
                or the automatic score has changed since a person gave the manual score, the cell is
                marked "needs manual grade", as nbgrader does.
    unreadable  Sets the automatic scores to 0, because the student's file cannot be graded. If the
    file's
                bytes do not prove that (the file may be a link, for instance), a recorded score
                stays, as after a fault.
    fault       A grader error: changes no score and keeps the submission's timestamp. The automatic
                scores belong to an earlier submission, so they are marked "needs manual grade" and
                the comment states the reason. The timestamp shows formgrader that the newer
                submission is not graded yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from nbformat import NotebookNode
from nbgrader import api
from sqlalchemy import insert, select, update

from grader.classes.gradebook.cells import Cells, declare, scores_and_comments
from grader.classes.gradebook.config import LatePenalty
from grader.classes.gradebook.connection import attempt, opened
from grader.classes.gradebook.errors import RecordError, StudentNameError, shown
from grader.classes.gradebook.lateness import in_utc, set_penalty, time_to_store
from grader.classes.gradebook.reader import entry_of, seconds_late, whole_entry
from grader.classes.gradebook.rows import begin_to_write, fill, insert_once, is_filled, set_columns, set_if_empty
from grader.classes.gradebook.stored import DETAILS, Stored, load_line, load_one, make_tables, row_of
from grader.declare.lesson import Lesson
from grader.records import Grade, GradebookEntry, Student


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """The result of an earlier run in the gradebook."""

    grade: Grade  # without checks
    notebook_sha256: str  # of the executed notebook


@dataclass(frozen=True, kw_only=True)
class Handover:
    """The circumstances of a submission: who submitted it, when, and whether it was late."""

    student: Student
    submitted: datetime | None = None  # None if unknown; UTC if it has no time zone
    late: bool = False  # the learning platform marked it as late


@contextmanager
def open_gradebook(
    url: str,
    lessons: Mapping[str, Lesson],
    masters: Mapping[str, NotebookNode] | None = None,
    course: str = "default_course",
    late_penalty: LatePenalty | None = None,
) -> Iterator[GradeWriter]:
    """Open a writer for the gradebook at `url`. Create the gradebook if it does not exist.

    Args:
        url: a database URL, e.g. sqlite:///gradebook.db
        lessons: by assignment.
        masters: the student notebooks, by assignment. Their cells are declared as nbgrader declares
            them, so that `nbgrader generate_assignment` on the same gradebook finds no differences.
        course: nbgrader's course_id.
        late_penalty: the penalty function of nbgrader's late-submission plugin; None leaves
            penalties as they are.

    Raises:
        RecordError: the gradebook cannot be opened.
    """
    with opened(url, course) as gradebook:
        attempt(url, lambda: make_tables(gradebook.db), undo=gradebook.db.rollback)
        yield GradeWriter(url, gradebook, lessons, masters or {}, late_penalty)


@dataclass
class GradeWriter:
    """Writes grades into an open gradebook, and finds the grades of earlier runs. `open_gradebook` makes it."""

    url: str
    gradebook: api.Gradebook
    lessons: Mapping[str, Lesson]
    masters: Mapping[str, NotebookNode]
    late_penalty: LatePenalty | None
    _cells: dict[str, Cells] = field(default_factory=dict)

    # ------------------------------------------------------------ what is there already

    def recorded(self, student: str, assignment: str, key: str) -> Recorded | None:
        """Return the grade recorded under this key, or None if the key differs or there is no grade."""
        try:
            stored = self._load(student, assignment)
        except StudentNameError:  # who has no name in a database is in none; `record` says so
            return None
        if stored is None or not key or stored.submission.key != key or stored.grade is None:
            return None
        return Recorded(grade=stored.grade, notebook_sha256=stored.submission.notebook_sha256)

    def whole(self, student: str, assignment: str) -> GradebookEntry | None:
        """Return the gradebook's entry of a submission, with checks and heatmaps, or None if there is no submission."""
        return self._attempt(lambda: whole_entry(self.gradebook.db, student, assignment))

    def line(self, student: str, assignment: str) -> str | None:
        """Return the JSON line of a submission's recorded grade, or None if no grade is recorded."""
        stored = self._load(student, assignment)
        return None if stored is None else self._attempt(lambda: load_line(self.gradebook.db, stored))

    # ------------------------------------------------------------ writing

    def record(
        self, grade: Grade, came_in: Handover | None = None, *, key: str = "", notebook_sha256: str = ""
    ) -> GradebookEntry:
        """Record one grade, and return its new entry in the gradebook, without checks.

        Args:
            came_in: the student and the time of submission.
            key: the digest of everything that the grade depends on, under which `recorded` finds
                it; "" if `recorded` must not find it.
            notebook_sha256: digest of the executed notebook that was written with the grade.

        Raises:
            StudentNameError: the student's name cannot be encoded; the next grade can be recorded.
            RecordError: the gradebook is locked, read-only, or does not fit the lesson.
        """
        if grade.assignment not in self.lessons:
            assignments = ", ".join(self.lessons) or "none"
            raise RecordError(
                f"{shown(self.url)}: {grade.student}'s grade is for {grade.assignment!r}, which is not a lesson of "
                f"this course; its lessons are {assignments}. It was not recorded."
            )
        came_in = came_in or Handover(student=Student(id=grade.student))
        details = row_of(grade, key, notebook_sha256)
        return self._attempt(lambda: self._write(grade, came_in, details))

    def confirm(self, recorded: Recorded, came_in: Handover) -> GradebookEntry:
        """Update nbgrader's scores if they differ from a grade that `recorded` returned. Return the new entry."""
        return self._attempt(lambda: self._write(recorded.grade, came_in, details=None))

    def add_student(self, student: Student) -> None:
        """Add a student, or fill in the student's data that the gradebook lacks."""
        self._change(lambda: self._insert_student(student))

    def set_notebook(self, student: str, assignment: str, notebook_sha256: str) -> None:
        """Store the digest of a submission's executed notebook, which was written after the grade.

        Do nothing if the gradebook does not contain the submission.
        """
        stored = self._load(student, assignment)
        if stored is None:
            return
        of_notebook = DETAILS.c.notebook_id == stored.submission.submitted_notebook
        change = update(DETAILS).where(of_notebook).values(notebook_sha256=notebook_sha256)
        self._change(lambda: self.gradebook.db.execute(change))

    def set_timestamp(self, student: str, assignment: str, timestamp: datetime | None) -> None:
        """Set the time of a submission, if the gradebook contains the submission.

        Raises:
            RecordError: the gradebook is locked or read-only.
        """
        stored = self._load(student, assignment)
        if stored is not None:
            db, table, row = self.gradebook.db, api.SubmittedAssignment.__table__, stored.submission.submission
            self._change(lambda: set_columns(db, table, row, timestamp=in_utc(timestamp)))

    def _attempt(self, work: Callable[[], Any]) -> Any:
        return attempt(self.url, work, undo=self.gradebook.db.rollback)

    def _change(self, work: Callable[[], Any]) -> None:
        """Call `work`, and commit its changes as one transaction."""

        def change() -> None:
            work()
            self.gradebook.db.commit()

        self._attempt(change)

    def _load(self, student: str, assignment: str) -> Stored | None:
        return self._attempt(lambda: load_one(self.gradebook.db, student, assignment))

    def _write(self, grade: Grade, came_in: Handover, details: Mapping[str, Any] | None) -> GradebookEntry:
        """Write one grade in one transaction, and return its new entry.

        Args:
            details: the columns of this grader's own row, or None if the row is up to date.
        """
        db = self.gradebook.db
        name = grade.assignment
        if name not in self._cells:
            self._cells[name] = declare(self.url, self.gradebook, self.lessons[name], self.masters.get(name))
        cells = self._cells[name]
        if details is None:
            known = load_one(db, grade.student, name)
            if known is not None and self._is_up_to_date(grade, came_in, known, cells):
                return entry_of([known])
        begin_to_write(db)
        before = load_one(db, grade.student, name)
        if not grade.proven and _has_grade(before):
            grade = replace(grade, status="fault", score=None)
        fault = grade.status == "fault"
        submission, notebook, new = self._insert_submission(came_in.student, cells)
        if new or not fault:
            time = _time_to_store(came_in, cells, before.submission.timestamp if before else None)
            set_columns(db, api.SubmittedAssignment.__table__, submission, timestamp=time)
        self._write_cells(grade, cells, notebook, before, same=details is None)
        self._write_details(notebook, before, details, grade.fault)
        if self.late_penalty and not fault:
            set_penalty(db, self._written(came_in.student.id, grade.assignment), self.late_penalty)
        entry = entry_of([self._written(grade.student, grade.assignment)])
        db.commit()
        return entry

    def _written(self, student: str, assignment: str) -> Stored:
        """Load a submission whose rows the open transaction has just written."""
        return cast(Stored, load_one(self.gradebook.db, student, assignment))

    def _insert_student(self, student: Student) -> None:
        insert_once(self.gradebook.db, api.Student.__table__, id=student.id)
        set_if_empty(self.gradebook.db, api.Student.__table__, student.id, **_columns_of(student))

    def _insert_submission(self, student: Student, cells: Cells) -> tuple[str, str, bool]:
        """Find or insert the rows of a submission.

        A student with an extension may already have a row of the submission, without a notebook.

        Returns:
            the id of the submission, the id of its submitted notebook, and True if that notebook is
            new.
        """
        db = self.gradebook.db
        self._insert_student(student)
        keys = {"assignment_id": cells.assignment, "student_id": student.id}
        submission, _ = insert_once(db, api.SubmittedAssignment.__table__, **keys)
        keys = {"notebook_id": cells.notebook, "assignment_id": submission}
        notebook, new = insert_once(db, api.SubmittedNotebook.__table__, **keys)
        return submission, notebook, new

    def _write_cells(self, grade: Grade, cells: Cells, notebook: str, before: Stored | None, *, same: bool) -> None:
        """Write scores and comments of all cells.

        Args:
            same: True if the grade itself is already recorded.
        """
        grades, comments = (before.grades, before.comments) if before else ((), ())
        if before is not None and before.grade is not None:  # it may be of another run, and still of the same file
            same = same or before.grade.submission_sha256 == grade.submission_sha256
        scores, texts = scores_and_comments(grade, cells, {row.cell_id: row for row in grades}, same=same)
        fill(self.gradebook.db, api.Grade.__table__, notebook, grades, scores)
        fill(self.gradebook.db, api.Comment.__table__, notebook, comments, texts)

    def _write_details(
        self, notebook: str, before: Stored | None, details: Mapping[str, Any] | None, fault: str
    ) -> None:
        """Write this grader's own row for a submitted notebook.

        If an earlier submission was graded, a grader error changes only the message, because the
        earlier grade still counts.

        Args:
            details: the columns of the row, or None to write only `fault`.
        """
        values = {"fault": fault} if details is None or (fault and _has_grade(before)) else dict(details)
        db = self.gradebook.db
        if before is not None and before.submission.key is not None:
            db.execute(update(DETAILS).where(DETAILS.c.notebook_id == notebook).values(**values))
        elif details is not None:
            db.execute(insert(DETAILS).values(notebook_id=notebook, **values))

    def _is_up_to_date(self, grade: Grade, came_in: Handover, before: Stored, cells: Cells) -> bool:
        """Return True if the gradebook contains all values of a recorded grade, as in most reruns.

        Always return False for a submission that is late or has a penalty, because the penalty may
        have changed.
        """
        row = before.submission
        moved = row.timestamp != _time_to_store(came_in, cells, row.timestamp)
        if row.fault or moved or seconds_late(row) or row.penalty is not None:
            return False
        if any(value and not row._mapping[name] for name, value in _columns_of(came_in.student).items()):
            return False
        grades = {each.cell_id: each for each in before.grades}
        scores, texts = scores_and_comments(grade, cells, grades, same=True)
        return is_filled(before.grades, scores) and is_filled(before.comments, texts)


def add_students(url: str, course: str, students: Iterable[Student]) -> None:
    """Add students to the gradebook, or fill in data that it lacks. Create the gradebook if it does not exist.

    Raises:
        RecordError: the gradebook cannot be opened or written.
    """
    with open_gradebook(url, {}, course=course) as writer:
        for student in students:
            writer.add_student(student)


def submission_times(url: str, course: str) -> dict[tuple[str, str], datetime | None]:
    """Map each student and assignment to the time of submission, or to None if the time is not known.

    Raises:
        RecordError: the gradebook cannot be read.
    """
    submissions, assignments = api.SubmittedAssignment.__table__, api.Assignment.__table__
    query = select(submissions.c.student_id, assignments.c.name, submissions.c.timestamp).join(
        assignments, assignments.c.id == submissions.c.assignment_id
    )
    with opened(url, course) as gradebook:
        rows = attempt(url, lambda: gradebook.db.execute(query).all())
    return {(student, name): timestamp for student, name, timestamp in rows}


def _time_to_store(came_in: Handover, cells: Cells, stored: datetime | None) -> datetime | None:
    return time_to_store(came_in.submitted, marked_late=came_in.late, duedate=cells.duedate, stored=stored)


def _columns_of(student: Student) -> dict[str, str]:
    """Return the columns of nbgrader's table of students for a student, except the id."""
    return {
        "first_name": student.first_name,
        "last_name": student.last_name,
        "email": student.email,
        "lms_user_id": student.lms_id,
    }


def _has_grade(before: Stored | None) -> bool:
    """Return True if the gradebook contains a grade from an earlier run, not only a grader error."""
    return before is not None and before.grade is not None and before.grade.status != "fault"
