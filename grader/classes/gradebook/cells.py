"""nbgrader's cells: how a lesson declares them in the gradebook, and which values a grade sets in each cell.

`declare` adds the assignment, the notebook and the cells as nbgrader stores them.
`scores_and_comments` returns the values that a grade sets in the table of grades and in the table
of comments.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nbformat import NotebookNode
from nbgrader import api, utils
from sqlalchemy import Row, insert, select

from grader.classes.gradebook.errors import RecordError, shown
from grader.declare.lesson import Lesson
from grader.records import Grade, Outcome, Verdict
from grader.submission.cells import Role, answer_cell, check_cell, question_of, role


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question that a student answers in words."""

    row: str  # id of the row of the text in the table of cells
    points: float  # the maximum that a person can give


@dataclass(frozen=True, kw_only=True)
class Cells:
    """One assignment's rows in the gradebook. Each value of the type `str` is the id of a row."""

    assignment: str
    notebook: str
    duedate: datetime | None  # of the assignment
    grades: Mapping[str, str]  # exercise id → row of its self-check, which gets the points
    comments: Mapping[str, str]  # exercise id → row of its answer, which gets the comment
    questions: Mapping[str, Question]  # by id
    other_grades: tuple[str, ...]  # rows of the cells that the instructor added, to grade by hand
    other_comments: tuple[str, ...]  # rows of the cells that the instructor added, to comment by hand


def declare(url: str, gradebook: api.Gradebook, lesson: Lesson, master: NotebookNode | None) -> Cells:
    """Add a lesson, its notebook and its cells to the gradebook or update them, and return the ids of their rows.

    The rows are those that nbgrader itself would write.

    Args:
        url: the gradebook's address, for messages only.
        master: the student notebook. If it is None, only the cells of the exercises are declared,
            and without sources.

    Raises:
        RecordError: the gradebook contains exercises that the lesson no longer has.
    """
    name = lesson.assignment
    gradebook.update_or_create_assignment(name)
    kernel = {} if master is None else {"kernelspec": json.dumps(master.metadata.get("kernelspec", {}))}
    notebook = gradebook.update_or_create_notebook(name, name, **kernel)
    _refuse_vanished(url, notebook, lesson, master)
    _declare_source_cells(gradebook, name, master)
    _declare_graded_cells(gradebook, lesson, master)
    gradebook.db.refresh(notebook)
    return _rows_of_cells(gradebook, notebook, lesson)


def _refuse_vanished(url: str, notebook: api.Notebook, lesson: Lesson, master: NotebookNode | None) -> None:
    """Refuse a gradebook with an exercise that the lesson no longer declares, because its points would count.

    Raises:
        RecordError: there is such an exercise.
    """
    declared = {check_cell(exercise.id) for exercise in lesson.exercises}
    declared |= {grade_id for grade_id, _ in _nbgrader_cells(master)}
    stored = {cell.name for cell in notebook.grade_cells if role(cell.name) is Role.CHECK}
    if vanished := sorted(stored - declared):
        raise RecordError(
            f"{shown(url)}: {lesson.assignment} has exercises there that the lesson no longer declares "
            f"({', '.join(vanished)}), and they would count. No grade was written. Give --gradebook a new file, "
            "or declare them again."
        )


def _declare_source_cells(gradebook: api.Gradebook, name: str, master: NotebookNode | None) -> None:
    """Store the source of each cell that nbgrader would store, so that nbgrader finds no differences later."""
    for grade_id, cell in _nbgrader_cells(master):
        locked = utils.is_locked(cell)
        if locked or utils.is_grade(cell) or utils.is_solution(cell) or utils.is_task(cell):
            gradebook.update_or_create_source_cell(
                grade_id,
                name,
                name,
                cell_type=cell.cell_type,
                locked=locked,
                source=cell.source,
                checksum=cell.metadata.nbgrader.get("checksum"),
            )


def _declare_graded_cells(gradebook: api.Gradebook, lesson: Lesson, master: NotebookNode | None) -> None:
    """Store the cells of the exercises, and the cells that the instructor added for manual grading."""
    name = lesson.assignment
    graded = [exercise for exercise in lesson.exercises if exercise.points]
    points = {check_cell(exercise.id): float(exercise.points) for exercise in graded}
    types = dict.fromkeys(points, "code")
    solutions = {answer_cell(exercise.id) for exercise in graded}
    for grade_id, cell in _nbgrader_cells(master):
        if utils.is_grade(cell):
            types[grade_id] = cell.cell_type
            points.setdefault(grade_id, float(cell.metadata.nbgrader["points"]))
        if utils.is_solution(cell):
            solutions.add(grade_id)
        if utils.is_task(cell):
            worth = float(cell.metadata.nbgrader["points"])
            gradebook.update_or_create_task_cell(grade_id, name, name, max_score=worth, cell_type=cell.cell_type)
    for grade_id, cell_type in types.items():
        gradebook.update_or_create_grade_cell(grade_id, name, name, max_score=points[grade_id], cell_type=cell_type)
    for grade_id in solutions:
        gradebook.update_or_create_solution_cell(grade_id, name, name)


def _rows_of_cells(gradebook: api.Gradebook, notebook: api.Notebook, lesson: Lesson) -> Cells:
    """Return the ids of the rows of all cells.

    Also insert the rows that earlier submissions lack.
    """
    grades = {cell.name: cell.id for cell in (*notebook.grade_cells, *notebook.task_cells)}
    worth = {cell.name: cell.max_score for cell in notebook.grade_cells}
    comments = {cell.name: cell.id for cell in (*notebook.solution_cells, *notebook.task_cells)}
    _complete_submissions(gradebook, notebook.id, grades.values(), comments.values())
    checks = {exercise.id: check_cell(exercise.id) for exercise in lesson.exercises}
    answers = {exercise.id: answer_cell(exercise.id) for exercise in lesson.exercises}
    return Cells(
        assignment=notebook.assignment_id,
        notebook=notebook.id,
        duedate=notebook.assignment.duedate,
        grades={id: grades.pop(cell) for id, cell in checks.items() if cell in grades},
        comments={id: comments.pop(cell) for id, cell in answers.items() if cell in comments},
        questions={
            question: Question(row=grades.pop(cell), points=worth[cell])
            for cell in tuple(grades)
            if role(cell) is Role.WRITTEN and (question := question_of(cell))
        },
        # The cells that the lines above did not pop: those that the instructor added.
        other_grades=tuple(grades.values()),
        other_comments=tuple(comments.values()),
    )


def _nbgrader_cells(master: NotebookNode | None) -> Iterator[tuple[str, NotebookNode]]:
    """Yield the grade id and the cell for each cell with nbgrader's metadata. Without a notebook, yield nothing."""
    for cell in () if master is None else master.cells:
        if grade_id := cell.metadata.get("nbgrader", {}).get("grade_id"):
            yield grade_id, cell


def _complete_submissions(
    gradebook: api.Gradebook, notebook: str, grades: Iterable[str], comments: Iterable[str]
) -> None:
    """Insert rows into every earlier submission of a notebook for cells that were declared after it."""
    submitted = api.SubmittedNotebook.__table__
    submissions = select(submitted.c.id).where(submitted.c.notebook_id == notebook)
    for table, cells in ((api.Grade.__table__, grades), (api.Comment.__table__, comments)):
        for cell in cells:
            complete = select(table.c.notebook_id).where(table.c.cell_id == cell)
            incomplete = gradebook.db.execute(submissions.where(submitted.c.id.not_in(complete)))
            for submission in incomplete.scalars().all():
                row = {"id": api.new_uuid(), "cell_id": cell, "notebook_id": submission}
                gradebook.db.execute(insert(table).values(**row))
    gradebook.db.commit()


# What Markdown, as nbconvert renders it, makes more of than text.
RENDERED = re.compile(r"<|\][(\[:]|\$|&#|://|\\[(\[]|\bwww\.")
WITHHELD = (
    "The newest submission could not be graded: a fault of the grader. A score that stands here is of an earlier one."
)


def scores_and_comments(
    grade: Grade, cells: Cells, stored: Mapping[str, Row], *, same: bool
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the columns to set in the rows of grades, and the columns to set in the rows of comments.

    Both dicts map the id of a cell to columns and values. A cell that the instructor added gets a
    row without values.

    Args:
        stored: the present row of grades for each cell.
        same: True if these rows belong to the same submission as `grade`.
    """
    verdicts = {verdict.id: verdict for verdict in grade.verdicts}
    scores = {cell: _scores(grade, verdicts.get(id)) for id, cell in cells.grades.items()}
    texts = {written.id: written.text for written in grade.written}
    scores |= {
        question.row: _question_scores(grade, texts.get(id, ""), question.points)
        for id, question in cells.questions.items()
    }
    scores |= {cell: {} for cell in cells.other_grades}
    for cell, row in stored.items():
        if cell in scores and row.manual_score is not None:
            needs = _needs_manual_grade_again(grade, row, scores[cell], same=same)
            scores[cell]["needs_manual_grade"] = needs
    comments = {cell: _comment(grade, verdicts.get(id)) for id, cell in cells.comments.items()}
    comments |= {cell: {} for cell in cells.other_comments}
    return scores, comments


def _needs_manual_grade_again(grade: Grade, row: Row, score: Mapping[str, Any], *, same: bool) -> bool:
    """Return True if a person must look again at a cell that has a manual score.

    That is so if the submission or the automatic score has changed since the person gave the score,
    until the person saves the cell again. A grader error changes neither of the two.
    """
    changed = not same or score.get("auto_score", row.auto_score) != row.auto_score
    return bool(row.needs_manual_grade) or (changed and grade.status != "fault")


# An exercise without a verdict is marked "needs manual grade" and keeps its stored score: a missing verdict
# does not set a score.


def _scores(grade: Grade, verdict: Verdict | None) -> dict[str, Any]:
    """Return the columns to set in an exercise's row of grades. Never set `manual_score` or `extra_credit`."""
    if grade.status == "unreadable":
        return {"auto_score": 0.0, "needs_manual_grade": False}
    if verdict is None or _is_withheld(grade, verdict):
        return {"needs_manual_grade": True}
    return {"auto_score": float(verdict.points), "needs_manual_grade": False}


def _question_scores(grade: Grade, text: str, points: float) -> dict[str, Any]:
    """Return the columns to set in a question's row of grades, as nbgrader does.

    An empty answer gets 0 points. Any other answer needs manual grading, if the question has
    points.
    """
    if grade.fault:
        return {"needs_manual_grade": points > 0}
    if not text:
        return {"auto_score": 0.0, "needs_manual_grade": False}
    return {"auto_score": None, "needs_manual_grade": points > 0}


def _comment(grade: Grade, verdict: Verdict | None) -> dict[str, str | None]:
    """Return the columns to set in an exercise's row of comments: why it has no points, or nothing if it is right."""
    if grade.status == "unreadable":
        return {"auto_comment": _without_markdown(grade.message)}
    if verdict is None or _is_withheld(grade, verdict):
        return {"auto_comment": WITHHELD}
    if verdict.outcome is Outcome.PASSED:
        return {"auto_comment": None}
    return {
        "auto_comment": _without_markdown("\n".join(filter(None, (verdict.hint, verdict.excerpt, verdict.message))))
        or None
    }


def _without_markdown(comment: str) -> str:
    """Return a comment that Markdown cannot read as a tag, a link, an image or a formula.

    Such a comment is indented, which makes it a code block without effect. nbgrader's own feedback
    page renders comments as Markdown, and comments quote what students write. This grader's page
    does not render them.
    """
    return "\n".join(f"    {line}" for line in comment.split("\n")) if RENDERED.search(comment) else comment


def _is_withheld(grade: Grade, verdict: Verdict) -> bool:
    """Return True if a grader error left the exercise without a score."""
    return grade.status == "fault" or verdict.outcome is Outcome.FAULT
