"""Make the grade of a submission that could not be graded: its file is unreadable, or the grader failed."""

from __future__ import annotations

from grader.records import Grade
from grader.submission.file import SubmissionFile


def withheld(
    file: SubmissionFile, status: str, message: str, max_score: float, isolation: str = "", device: str = ""
) -> Grade:
    """Make a grade without verdicts, whose message says why there are none.

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
