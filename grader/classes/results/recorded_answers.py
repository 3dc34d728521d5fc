"""Reads the answers and the predictions of a class from autograded/, where each graded submission lies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.classes.results.folders import autograded_notebook
from grader.classes.results.worked_solutions import worked
from grader.records import GradebookEntry
from grader.report.predictions import PredictedLine, Said, predicted_lines
from grader.submission.cells import Role, exercise_of, marked_predictions, predicted, role
from grader.submission.file import MAX_BYTES, Unreadable
from grader.submission.notebook import parse


@dataclass(frozen=True, kw_only=True)
class RecordedAnswers:
    """The code of one submission: its answers by exercise, and the cells that the student added, in their order."""

    student: str
    answers: dict[str, str]
    own: tuple[str, ...]
    predictions: Said


def recorded_answers(autograded: Path, entries: Sequence[GradebookEntry]) -> Iterator[RecordedAnswers | str]:
    """Yield the code of each graded submission in autograded/, or the student's id if its notebook cannot be read."""
    for entry in entries:
        if entry.grade.status == "graded":
            student = entry.student.id
            yield read_answers(student, autograded_notebook(autograded, student, entry.assignment)) or student


def read_answers(student: str, path: Path) -> RecordedAnswers | None:
    """Read the code of an executed notebook; None if it is missing or no notebook."""
    try:
        if path.stat().st_size > 2 * MAX_BYTES:
            return None
        cells = parse(path.read_bytes()).cells
    except (OSError, Unreadable):
        return None
    answers = {str(exercise_of(cell.id)): cell.source for cell in cells if role(cell.id) is Role.ANSWER}
    return RecordedAnswers(
        student=student,
        answers=answers,
        own=tuple(cell.source for cell in cells if role(cell.id) is Role.OWN),
        predictions={name: predicted(cell.source) for cell in cells for name in marked_predictions(cell.source)},
    )


def class_predictions(autograded: Path, entries: Sequence[GradebookEntry]) -> dict[str, list[PredictedLine]]:
    """Count by assignment what the class filled into its predictions; a notebook that cannot be read counts as empty."""
    found = {}
    for assignment in {entry.assignment: None for entry in entries}:
        read = recorded_answers(autograded, [entry for entry in entries if entry.assignment == assignment])
        said = [each.predictions for each in read if isinstance(each, RecordedAnswers)]
        found[assignment] = predicted_lines(said, worked(assignment).predictions)
    return found
