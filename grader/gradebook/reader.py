"""Reads from the gradebook what people decided by hand, for the feedback page."""

from __future__ import annotations

from nbgrader import api

from grader.gradebook.connection import attempt, connect
from grader.notebook.cells import exercise_of
from grader.report.page import ManualMarks


def read_marks(url: str, course: str, student: str, assignment: str) -> ManualMarks:
    """Read the points, comments and penalty that people gave a submission, and its score with them.

    Raises:
        RecordError: the gradebook cannot be read, or holds no such submission.
    """
    gradebook = connect(url, course)
    try:
        return attempt(
            url, lambda: _marks(gradebook.find_submission_notebook(assignment, assignment, student))
        )
    finally:
        gradebook.close()


def _marks(notebook: api.SubmittedNotebook) -> ManualMarks:
    """Collect from a submitted notebook what people decided by hand; the score is reduced by the penalty."""
    penalty = notebook.late_submission_penalty or 0.0
    return ManualMarks(
        score=notebook.score - penalty,
        penalty=penalty,
        points={
            _exercise(grade.name): grade.score
            for grade in notebook.grades
            if grade.manual_score is not None or grade.extra_credit
        },
        comments={
            _exercise(comment.name): comment.manual_comment
            for comment in notebook.comments
            if comment.manual_comment
        },
    )


def _exercise(cell: str) -> str:
    """Return the exercise of an answer's or a self-check's grade id; return other grade ids unchanged."""
    return exercise_of(cell) or cell
