"""The lesson as the gradebook knows it: assignment, notebook and cells, stored as nbgrader stores them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader import api, utils
from sqlalchemy import insert, select

from grader.declaration.lesson import Lesson
from grader.gradebook.errors import RecordError
from grader.notebook.cells import Role, answer_cell, check_cell, role


@dataclass(frozen=True, kw_only=True)
class Cells:
    """One assignment's rows in the gradebook, by their ids."""

    assignment: str
    notebook: str
    grades: Mapping[str, str]  # exercise id → grade cell
    comments: Mapping[str, str]  # exercise id → solution cell
    other_grades: tuple[str, ...]  # the instructor's own cells, graded by hand
    other_comments: tuple[str, ...]


def declare(url: str, gradebook: api.Gradebook, lesson: Lesson, master: NotebookNode | None) -> Cells:
    """Make sure that the gradebook knows the lesson, its notebook and every cell, as nbgrader does.

    Args:
        url: for messages.
        master: the student notebook; without it only the declared cells are known, and no sources.

    Raises:
        RecordError: the gradebook holds exercises that the lesson no longer has.
    """
    name = lesson.assignment
    gradebook.update_or_create_assignment(name)
    kernel = {} if master is None else {"kernelspec": json.dumps(master.metadata.get("kernelspec", {}))}
    notebook = gradebook.update_or_create_notebook(name, name, **kernel)
    _refuse_vanished(url, notebook, lesson, master)

    graded = [exercise for exercise in lesson.exercises if exercise.points]
    points = {check_cell(exercise.id): float(exercise.points) for exercise in graded}
    kinds = dict.fromkeys(points, "code")
    solutions = {answer_cell(exercise.id) for exercise in graded}
    for identity, cell in _marked(master):
        grade, solution, locked = utils.is_grade(cell), utils.is_solution(cell), utils.is_locked(cell)
        if grade:
            kinds[identity] = cell.cell_type
            points.setdefault(identity, float(cell.metadata.nbgrader["points"]))
        if solution:
            solutions.add(identity)
        if grade or solution or locked:
            gradebook.update_or_create_source_cell(
                identity,
                name,
                name,
                cell_type=cell.cell_type,
                locked=locked,
                source=cell.source,
                checksum=cell.metadata.nbgrader.get("checksum"),
            )
    for identity, kind in kinds.items():
        gradebook.update_or_create_grade_cell(
            identity, name, name, max_score=points[identity], cell_type=kind
        )
    for identity in solutions:
        gradebook.update_or_create_solution_cell(identity, name, name)

    gradebook.db.refresh(notebook)
    grades = {cell.name: cell.id for cell in (*notebook.grade_cells, *notebook.task_cells)}
    comments = {cell.name: cell.id for cell in (*notebook.solution_cells, *notebook.task_cells)}
    _complete(gradebook, notebook.id, grades.values(), comments.values())
    check = {exercise.id: check_cell(exercise.id) for exercise in lesson.exercises}
    solution = {exercise.id: answer_cell(exercise.id) for exercise in lesson.exercises}
    return Cells(
        assignment=notebook.assignment_id,
        notebook=notebook.id,
        grades={id: grades.pop(cell) for id, cell in check.items() if cell in grades},
        comments={id: comments.pop(cell) for id, cell in solution.items() if cell in comments},
        other_grades=tuple(grades.values()),  # what the two lines above left
        other_comments=tuple(comments.values()),
    )


def _marked(master: NotebookNode | None) -> Iterable[tuple[str, NotebookNode]]:
    """The cells that nbgrader knows, by their grade id."""
    for cell in () if master is None else master.cells:
        if identity := cell.metadata.get("nbgrader", {}).get("grade_id"):
            yield identity, cell


def _refuse_vanished(url: str, notebook: api.Notebook, lesson: Lesson, master: NotebookNode | None) -> None:
    known = {check_cell(exercise.id) for exercise in lesson.exercises} | {id for id, _ in _marked(master)}
    theirs = {cell.name for cell in notebook.grade_cells if role(cell.name) is Role.CHECK}
    if gone := sorted(theirs - known):
        raise RecordError(
            f"{url}: {lesson.assignment} has exercises there that the lesson no longer declares "
            f"({', '.join(gone)}), and they would count. No grade was written. Give --gradebook a new file, "
            "or declare them again."
        )


def _complete(
    gradebook: api.Gradebook, notebook: str, grades: Iterable[str], comments: Iterable[str]
) -> None:
    """Give every submission of the notebook its rows for cells that were declared after it came in."""
    handed_in = api.SubmittedNotebook.__table__
    submissions = select(handed_in.c.id).where(handed_in.c.notebook_id == notebook)
    for table, cells in ((api.Grade.__table__, grades), (api.Comment.__table__, comments)):
        for cell in cells:
            having = select(table.c.notebook_id).where(table.c.cell_id == cell)
            lacking = gradebook.db.execute(submissions.where(handed_in.c.id.not_in(having)))
            for submission in lacking.scalars().all():
                row = {"id": api.new_uuid(), "cell_id": cell, "notebook_id": submission}
                gradebook.db.execute(insert(table).values(**row))
    gradebook.db.commit()
