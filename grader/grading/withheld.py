"""Make the grade of a submission that could not be graded: its file is unreadable, or the grader failed."""

from grader.records import Grade
from grader.submission.file import Problem, SubmissionFile


def withheld(file: SubmissionFile, problem: Problem, max_score: float, isolation: str = "", device: str = "") -> Grade:
    """Make a grade without verdicts, whose message says why there are none; a fault has no score."""
    return Grade(
        student=file.student,
        assignment=file.assignment,
        status=problem.status,
        score=None if problem.status == "fault" else 0.0,
        max_score=max_score,
        message=problem.message,
        proven=problem.proven,
        isolation=isolation,
        device=device,
    )
