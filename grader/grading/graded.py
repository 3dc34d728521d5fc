"""The result of grading one submission, even if it cannot be graded or the machine was too busy.

A submission is starved if the machine was too busy to give it its full time. It is then graded once more. If it is
starved again, its grade is withheld, never lowered.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from nbformat import NotebookNode

from grader.records import Grade
from grader.submission.file import Problem, SubmissionFile

TOO_BUSY = (
    "this machine was too busy: something was stopped that had not had its time. "
    "The grade is withheld, nothing is lost. Run this again when less else runs here"
)


@dataclass(frozen=True, kw_only=True)
class Graded:
    """A grade with the executed notebook.

    The notebook is None if no notebook was run, or if an earlier run recorded the grade.
    """

    grade: Grade
    notebook: NotebookNode | None = None
    recorded: bool = False  # an earlier run made the grade; it is without checks
    # Points are missing, and something was stopped that had not had its time: worth another run, alone.
    starved: bool = False


def again_if_starved(grade: Callable[[], Graded]) -> Graded:
    """Grade a submission, and once more if it was starved. Withhold the grade if it was starved again."""
    graded = grade()
    return unless_starved(grade() if graded.starved else graded)


def unless_starved(graded: Graded) -> Graded:
    """Return a result unchanged if it was not starved.

    Otherwise return it with the status "fault", no score, and the reason.
    """
    if not graded.starved:
        return graded
    return replace(graded, grade=replace(graded.grade, status="fault", score=None, message=TOO_BUSY))


def withheld(file: SubmissionFile, problem: Problem, max_score: float, isolation: str = "", device: str = "") -> Grade:
    """Return a grade without verdicts, whose message gives the reason.

    Its score is None if the problem is a fault, and otherwise 0.
    """
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
