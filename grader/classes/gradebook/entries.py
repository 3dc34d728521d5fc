"""Makes `GradebookEntry` records of the rows that the gradebook stores.

Scores are nbgrader's: of each cell the manual score, or else the automatic one, plus extra credit; of these
the sum, less the penalty, and at least 0.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, timedelta

from sqlalchemy import Row
from sqlalchemy.orm import Session

from grader.classes.gradebook.details import grade_in
from grader.classes.gradebook.stored import Stored, load_line, load_one
from grader.records import CellScore, Grade, GradebookEntry, Student
from grader.submission.cells import exercise_of, question_of


def entry_of(stored: Sequence[Stored]) -> GradebookEntry:
    """Put the submitted notebooks of one submission, usually one, together as an entry."""
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
    """Load one submission with its whole grade, checks and heatmaps included; None if the gradebook has none."""
    stored = load_one(db, student, assignment)
    if stored is None:
        return None
    entry = entry_of([stored])
    return replace(entry, grade=grade_in(load_line(db, stored)) or entry.grade)


def student_of(row: Row) -> Student:
    """Read the columns of a student; the id is in the column `student`."""
    return Student(
        id=row.student,
        first_name=row.first_name or "",
        last_name=row.last_name or "",
        email=row.email or "",
        lms_id=row.lms_user_id or "",
    )


def _cell_scores(stored: Stored) -> dict[str, CellScore]:
    """Return what people and grader decided of each cell: by exercise or question, or else by its grade id."""
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
    """Return the points of a cell as nbgrader adds them up; None if nobody has scored it."""
    base = auto if manual is None else manual
    return None if base is None else base + (extra or 0.0)


def cell_name(cell: str) -> str:
    """Return the exercise or question that a grade id names; return other grade ids unchanged."""
    return exercise_of(cell) or question_of(cell) or cell


def seconds_late(row: Row) -> float | None:
    """Return how late a submission is, 0 if it is in time; None if due date or time of submission is not known."""
    if row.timestamp is None or row.duedate is None:
        return None
    return max(0.0, (row.timestamp - row.duedate - (row.extension or timedelta())).total_seconds())
