"""A class that is recorded without being run: executed notebooks in autograded/, and its rows in the gradebook."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import nbformat

from grader.classes.gradebook.writer import Handover, open_gradebook
from grader.classes.results.folders import write_autograded
from grader.course import lessons
from grader.grading.grade import master_notebook
from grader.records import Grade, Student
from grader.submission.cells import answer_cell, own_cell, with_marker

ROOT = Path(__file__).resolve().parents[2]


def record_class(
    folder: Path, assignment: str, students: Mapping[str, Mapping[str, str]], own: Mapping[str, str] | None = None
) -> str:
    """Record a class in a folder, and return the URL of its gradebook.

    Args:
        students: for each student the sources of their answers, by exercise.
        own: for some students the source of a cell that they added.
    """
    url = f"sqlite:///{folder / 'gradebook.db'}"
    with open_gradebook(url, lessons(), {}) as gradebook:
        for student, answers in students.items():
            notebook = nbformat.from_dict(master_notebook(ROOT, assignment))
            sources = {answer_cell(id): with_marker(id, source) for id, source in answers.items()}
            notebook.cells = [
                nbformat.from_dict({**cell, "source": sources.get(cell.id, cell.source)}) for cell in notebook.cells
            ]
            if student in (own or {}):
                notebook.cells.append(nbformat.v4.new_code_cell((own or {})[student], id=own_cell(1)))
            write_autograded(folder / "autograded", student, assignment, notebook)
            grade = Grade(student=student, assignment=assignment, status="graded", score=1.0, max_score=100.0)
            gradebook.record(
                grade, Handover(student=Student(id=student), submitted=None), key=student, notebook_sha256=""
            )
    return url
