"""A submission without a grade: unreadable (its file is at fault) or a fault of the grader."""

from __future__ import annotations

from grader.records import Grade
from grader.submission.file import SubmissionFile


def withheld(
    file: SubmissionFile, status: str, message: str, max_score: float, isolation: str = "", device: str = ""
) -> Grade:
    """Return the grade that says why there is none.

    Args:
        status: "unreadable", which scores 0, or "fault", which has no score.
    """
    return Grade(
        student=file.student,
        assignment=file.assignment,
        status=status,
        score=0.0 if status == "unreadable" else None,
        max_score=max_score,
        message=message,
        isolation=isolation,
        device=device,
    )
