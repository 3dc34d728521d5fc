"""Makes the pages that people read after grading, and collects the answers of a class.

The pages are the feedback page of a gradebook entry, worked solutions and mark schemes.

The last line of a feedback page is a comment with a digest of everything that the page was made
from. A rerun compares this digest. It makes the page again only in these cases: the entry has
changed (a person may have given points or a comment), a worked solution has changed, the code that
makes pages has changed, or the file is incomplete or another file.

A student reads the worked solution of an exercise on the page, once it has full points. An
instructor reads the mark scheme of a question in formgrader, below the student's text. After the
due date the page shows our answers to the questions for thought. The class report compares
predictions with the values that the author filled in. The answers and the predictions of a class
are in autograded/, which contains each graded submission.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import grader
from grader.classes.gradebook.stored import without_checks
from grader.classes.results.folders import autograded_notebook
from grader.paths import course_root
from grader.records import GradebookEntry
from grader.report.class_page import PredictedLine, Said, predicted_lines
from grader.report.page import feedback_page
from grader.submission.cells import (
    Role,
    exercise_of,
    marked_predictions,
    predicted,
    question_of,
    role,
    thoughts,
    without_marks,
)
from grader.submission.file import MAX_BYTES, Unreadable
from grader.submission.notebook import parse


@dataclass(frozen=True)
class Worked:
    """The parts of a lesson's solution notebook that a page shows."""

    answers: Mapping[str, str] = field(default_factory=dict)  # by exercise
    schemes: Mapping[str, str] = field(default_factory=dict)  # Markdown, by question
    thoughts: Sequence[tuple[str, str]] = ()  # the questions for thought, each with our answer
    predictions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  # prediction → line → value


def worked(assignment: str) -> Worked:
    """Return the parts of the solution notebook that pages show.

    All parts are empty if the notebook does not exist, as on a learning platform.
    """
    try:
        path = course_root() / "solutions" / assignment / f"{assignment}.ipynb"
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return Worked()


def with_mark_schemes(notebook: NotebookNode, assignment: str) -> NotebookNode:
    """Add the mark scheme of each question to its text in an executed notebook, in place. Return the notebook.

    The notebook is for formgrader. Feedback pages are not made from it.
    """
    schemes = worked(assignment).schemes
    for cell in notebook.cells:
        scheme = schemes.get(question_of(cell.id) or "")
        if scheme and role(cell.id) is Role.WRITTEN:
            cell.source += f"\n\n---\n\n{scheme}"
    return notebook


@cache
def _read(path: Path, changed: int) -> Worked:
    """Read a solution notebook. The argument `changed` makes the cache read it again only after a change."""
    answers, schemes, found, predictions = {}, {}, [], {}
    for cell in nbformat.read(path, as_version=4).cells:
        if role(cell.id) is Role.ANSWER:
            answers[str(exercise_of(cell.id))] = without_marks(cell.source)
        elif role(cell.id) is Role.WRITTEN:
            schemes[str(question_of(cell.id))] = without_marks(cell.source)
        elif cell.cell_type == "markdown":
            found += thoughts(cell.source)
        for name in marked_predictions(cell.source):
            predictions[name] = predicted(cell.source)
    return Worked(answers, schemes, found, predictions)


@dataclass(frozen=True, kw_only=True)
class RecordedAnswers:
    """The code of one submission: its answers by exercise, and the student-added cells in their order."""

    student: str
    answers: dict[str, str]
    own: tuple[str, ...]
    predictions: Said


def recorded_answers(autograded: Path, entries: Sequence[GradebookEntry]) -> Iterator[RecordedAnswers | str]:
    """Yield the code of each graded submission in autograded/.

    If a notebook cannot be read, yield the student's id instead.
    """
    for entry in entries:
        if entry.grade.status == "graded":
            student = entry.student.id
            yield read_answers(student, autograded_notebook(autograded, student, entry.assignment)) or student


def read_answers(student: str, path: Path) -> RecordedAnswers | None:
    """Return the code in an executed notebook, or None if the file is missing or is not a notebook."""
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
    """Count the values that the class filled into its predictions, by assignment.

    A notebook that cannot be read is left out.
    """
    found = {}
    for assignment in {entry.assignment: None for entry in entries}:
        read = recorded_answers(autograded, [entry for entry in entries if entry.assignment == assignment])
        said = [each.predictions for each in read if isinstance(each, RecordedAnswers)]
        found[assignment] = predicted_lines(said, worked(assignment).predictions)
    return found


def page_of(entry: GradebookEntry, notebook: Path) -> str:
    """Return the feedback page of an entry that has its whole grade.

    The page includes worked solutions of passed exercises and the student's answers in the executed
    notebook. If the notebook cannot be read, the page shows no answers.
    """
    read = read_answers(entry.student.id, notebook)
    solutions, answers = worked(entry.assignment).answers, read.answers if read else {}
    return feedback_page(entry, solutions, answers, _thoughts(entry)) + _last_line(entry)


def _thoughts(entry: GradebookEntry) -> Sequence[tuple[str, str]]:
    """Return the questions for thought with the lesson's answers, once the due date has passed.

    Before the due date, and if there is no due date, return an empty tuple.
    """
    return worked(entry.assignment).thoughts if entry.due is not None and entry.due <= datetime.now(UTC) else ()


def is_current(page: Path, entry: GradebookEntry) -> bool:
    """Return True if a file is the present page of an entry. The entry's grade may lack its checks."""
    wanted = _last_line(entry).encode()
    try:
        with page.open("rb") as file:
            file.seek(-len(wanted), os.SEEK_END)
            return file.read() == wanted
    except OSError:  # there is none, or it is shorter
        return False


def _last_line(entry: GradebookEntry) -> str:
    """Return the comment with a digest that ends the page of an entry."""
    reduced = replace(entry, grade=without_checks(entry.grade))
    solutions = worked(entry.assignment).answers
    digest = sha256(
        f"{_page_code_digest()}{reduced!r}{solutions!r}{_thoughts(entry)!r}".encode("utf-8", "surrogatepass")
    ).hexdigest()
    return f"<!-- made from {digest} -->\n"


@cache
def _page_code_digest() -> str:
    """Return a digest of the code, templates and styles that make feedback pages."""
    digest = sha256()
    for file in sorted((Path(grader.__file__).parent / "report").rglob("*")):
        if file.suffix in (".py", ".j2", ".css"):
            digest.update(file.read_bytes())
    return digest.hexdigest()
