"""Reads from the solution notebooks what people see after grading: worked solutions, mark schemes, answers for thought.

A student reads the worked solution of an exercise on the feedback page, once it has full points. An instructor reads
the mark scheme of a question in formgrader, below the student's text. After the due date the feedback page has our answers
to the questions for thought; what the author filled into a prediction tells the class report which answers are right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.paths import course_root
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


@dataclass(frozen=True)
class Worked:
    """What the solution notebook of a lesson says."""

    answers: Mapping[str, str] = field(default_factory=dict)  # by exercise
    schemes: Mapping[str, str] = field(default_factory=dict)  # Markdown, by question
    thoughts: Sequence[tuple[str, str]] = ()  # the questions for thought, each with our answer
    predictions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  # what stands in each, by its name


def worked(assignment: str) -> Worked:
    """Return what the solution notebook says; nothing where the course has none, as on a learning platform."""
    try:
        path = course_root() / "solutions" / assignment / f"{assignment}.ipynb"
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return Worked()


def with_mark_schemes(notebook: NotebookNode, assignment: str) -> NotebookNode:
    """Add to each text of an executed notebook the mark scheme of its question; change the notebook itself.

    The notebook is for formgrader: feedback pages are not made from it.
    """
    schemes = worked(assignment).schemes
    for cell in notebook.cells:
        scheme = schemes.get(question_of(cell.id) or "")
        if scheme and role(cell.id) is Role.WRITTEN:
            cell.source += f"\n\n---\n\n{scheme}"
    return notebook


@cache
def _read(path: Path, changed: int) -> Worked:
    """Read a solution notebook, again where it was changed."""
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
