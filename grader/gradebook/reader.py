"""What people decided beside the grade, as it stands in the gradebook: for the feedback page."""

from __future__ import annotations

from nbgrader import api

from grader.gradebook.connection import attempt, connect
from grader.notebook.cells import exercise_of
from grader.report.page import Marks


def read_marks(url: str, course: str, student: str, assignment: str) -> Marks:
    """A submission's marks.

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


def _marks(notebook: api.SubmittedNotebook) -> Marks:
    penalty = notebook.late_submission_penalty or 0.0
    return Marks(
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
    """Return "1.4" for "check-1-4" and "exercise-1-4"; a cell of the instructor's own keeps its name."""
    return exercise_of(cell) or cell
