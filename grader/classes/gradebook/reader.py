"""Reads the gradebook, one submission or a whole class, as `GradebookEntry` records. It changes nothing.

An entry is the gradebook's record of one submission. All pages, tables and exports that show points
read them here. The score of a cell is nbgrader's: the manual score, or otherwise the automatic one,
plus extra credit. The score of a submission is the sum of these minus the penalty, and at least 0.
Each function that gets the address of a gradebook raises RecordError if the gradebook does not
exist or cannot be read.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from nbgrader import api
from sqlalchemy import Row, and_, select
from sqlalchemy.orm import Session

from grader.classes.gradebook.connection import attempt, existing
from grader.classes.gradebook.stored import Stored, grade_in, load_class, load_line, load_one
from grader.records import CellScore, Grade, GradebookEntry, Student
from grader.submission.cells import exercise_of, question_of


def read_class(url: str, course: str, assignment: str | None = None) -> list[GradebookEntry]:
    """Return the entries of an assignment, sorted by assignment and student.

    If `assignment` is None, return the entries of all assignments. Students who did not submit an
    assignment get an entry with the status "missing". The grades have no checks and heatmaps,
    because the checks of a large class would not fit into memory.
    """
    with existing(url, course) as db:
        return attempt(url, lambda: _class(db, assignment))


def read_whole_grades(url: str, course: str) -> Iterator[Grade]:
    """Yield the grade of each submission with its checks, but without heatmaps.

    The heatmaps of a large class would not fit into memory.
    """
    with existing(url, course) as db:
        for stored in attempt(url, lambda: [*load_class(db, None)]):
            grade = grade_in(attempt(url, partial(load_line, db, stored)))
            if grade is not None:
                verdicts = (replace(verdict, heatmaps=(), other=None) for verdict in grade.verdicts)
                yield replace(grade, verdicts=tuple(verdicts))


def read_entry(url: str, course: str, student: str, assignment: str) -> GradebookEntry | None:
    """Return the entry of one submission with its whole grade, or None if the gradebook does not contain it."""
    return next(read_whole(url, course, [(student, assignment)]))


def read_whole(url: str, course: str, wanted: Iterable[tuple[str, str]]) -> Iterator[GradebookEntry | None]:
    """Yield the entry of each wanted submission with its whole grade, or None if the gradebook lacks it.

    Args:
        wanted: pairs of a student's id and an assignment.
    """
    with existing(url, course) as db:
        for student, assignment in wanted:
            yield attempt(url, partial(whole_entry, db, student, assignment))


def read_students(url: str, course: str) -> list[Student]:
    """Return all students of the gradebook, sorted by id."""
    with existing(url, course) as db:
        return sorted(attempt(url, lambda: _students(db)), key=lambda student: student.id)


def read_due_dates(url: str, course: str, student: str) -> dict[str, datetime]:
    """Map each assignment with a due date to the UTC time until which a student may submit it.

    The time includes the student's extension.
    """
    submissions, assignments = api.SubmittedAssignment.__table__, api.Assignment.__table__
    own = and_(submissions.c.assignment_id == assignments.c.id, submissions.c.student_id == student)
    query = select(assignments.c.name, assignments.c.duedate, submissions.c.extension).select_from(
        assignments.outerjoin(submissions, own)
    )
    with existing(url, course) as db:
        rows = attempt(url, lambda: db.execute(query.where(assignments.c.duedate.is_not(None))).all())
    return {row.name: row.duedate.replace(tzinfo=UTC) + (row.extension or timedelta()) for row in rows}


def _class(db: Session, assignment: str | None) -> list[GradebookEntry]:
    """Load an entry for each submission, and one for each student who did not submit an assignment."""
    by_submission: dict[str, list[Stored]] = {}
    for stored in load_class(db, assignment):
        by_submission.setdefault(stored.submission.submission, []).append(stored)
    entries = [entry_of(notebooks) for notebooks in by_submission.values()]
    entries += _missing(entries, _students(db))
    return sorted(entries, key=lambda entry: (entry.assignment, entry.student.id))


def _students(db: Session) -> list[Student]:
    """Load all students of the gradebook."""
    table = api.Student.__table__
    names = (table.c[name] for name in ("first_name", "last_name", "email", "lms_user_id"))
    return [student_of(row) for row in db.execute(select(table.c.id.label("student"), *names))]


def _missing(entries: list[GradebookEntry], students: list[Student]) -> Iterator[GradebookEntry]:
    """Yield an entry for each pair of a student and an assignment that only other students have submitted."""
    worth = {entry.assignment: entry.max_score for entry in entries}
    submitted = {(entry.student.id, entry.assignment) for entry in entries}
    for assignment, max_score in worth.items():
        for student in students:
            if (student.id, assignment) not in submitted:
                nothing = Grade(
                    student=student.id,
                    assignment=assignment,
                    status="missing",
                    score=None,
                    max_score=max_score,
                    message="submitted nothing",
                )
                yield GradebookEntry(
                    student=student, assignment=assignment, grade=nothing, score=None, max_score=max_score
                )


def entry_of(stored: Sequence[Stored]) -> GradebookEntry:
    """Return the entry of one submission, made from its submitted notebooks. Usually there is only one notebook."""
    row = stored[0].submission
    cells: dict[str, CellScore] = {}
    for notebook in stored:
        cells |= _cell_scores(notebook)
    scored = [cell.points for cell in cells.values() if cell.points is not None]
    raw_score = sum(scored)
    penalty = sum(notebook.submission.penalty or 0.0 for notebook in stored)
    score = max(0.0, raw_score - penalty) if scored else None
    max_score = sum(cell.max_points for cell in cells.values())
    summaries = (notebook.grade for notebook in stored)
    # Stands in for the grade of a submission that nbgrader, and not this grader, recorded.
    about = {"student": row.student, "assignment": row.assignment}
    by_nbgrader = Grade(**about, status="recorded", score=score, max_score=max_score)
    return GradebookEntry(
        student=student_of(row),
        assignment=row.assignment,
        grade=next(filter(None, summaries), None) or by_nbgrader,
        fault=next((notebook.submission.fault for notebook in stored if notebook.submission.fault), ""),
        score=score,
        raw_score=raw_score,
        max_score=max_score,
        penalty=penalty,
        seconds_late=seconds_late(row),
        due=None if row.duedate is None else row.duedate.replace(tzinfo=UTC) + (row.extension or timedelta()),
        cells=cells,
        appeals=tuple(appeal for notebook in stored for appeal in notebook.appeals),
    )


def whole_entry(db: Session, student: str, assignment: str) -> GradebookEntry | None:
    """Return the entry of one submission with its checks and heatmaps, or None if the gradebook does not contain it."""
    stored = load_one(db, student, assignment)
    if stored is None:
        return None
    entry = entry_of([stored])
    return replace(entry, grade=grade_in(load_line(db, stored)) or entry.grade)


def student_of(row: Row) -> Student:
    """Return the student in a row of the gradebook. The row's column `student` contains the id."""
    return Student(
        id=row.student,
        first_name=row.first_name or "",
        last_name=row.last_name or "",
        email=row.email or "",
        lms_id=row.lms_user_id or "",
    )


def _cell_scores(stored: Stored) -> dict[str, CellScore]:
    """Return the points and comments of each cell.

    The keys are the ids of exercises and questions. For other cells they are nbgrader's grade ids.
    """
    comments = {cell_name(row.cell): row.manual_comment for row in stored.comments if row.manual_comment}
    scores = {
        cell_name(row.cell): CellScore(
            points=_points(row.auto_score, row.manual_score, row.extra_credit),
            max_points=row.max_score,
            by_hand=row.manual_score is not None or bool(row.extra_credit),
            needs_manual_grade=bool(row.needs_manual_grade),
            comment=comments.pop(cell_name(row.cell), ""),
        )
        for row in stored.grades
    }
    # A practice exercise has no points, and may have a comment.
    scores |= {cell: CellScore(points=None, max_points=0.0, comment=text) for cell, text in comments.items()}
    return scores


def _points(auto: float | None, manual: float | None, extra: float | None) -> float | None:
    """Return the points of a cell as nbgrader adds them up, or None if neither grader nor person has scored it."""
    base = auto if manual is None else manual
    return None if base is None else base + (extra or 0.0)


def cell_name(cell: str) -> str:
    """Return the id of the exercise or question that a grade id belongs to. Return other grade ids unchanged."""
    return exercise_of(cell) or question_of(cell) or cell


def seconds_late(row: Row) -> float | None:
    """Return the delay of a submission in seconds, 0 if it is in time.

    Return None if the due date or the time of submission is not known.
    """
    if row.timestamp is None or row.duedate is None:
        return None
    return max(0.0, (row.timestamp - row.duedate - (row.extension or timedelta())).total_seconds())
