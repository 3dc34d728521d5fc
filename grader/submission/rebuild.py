"""Rebuild, don't trust: a submission's exercise cells and own cells, put into the master copy.

Tags, metadata, outputs, the kernelspec and everything else of the submitted file are left behind.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import SequenceMatcher

import nbformat
from nbformat import NotebookNode

from grader.declaration.exercise import Exercise
from grader.declaration.lesson import Lesson
from grader.notebook.cells import Role, answer_cell, marked_exercises, own_cell, role
from grader.notebook.source_names import bound
from grader.submission.file import Cell, Submission, Unreadable

MAX_OWN_CELLS = 300


@dataclass(frozen=True, kw_only=True)
class Rebuilt:
    """The master copy with a student's answers in it."""

    notebook: NotebookNode
    answers: Mapping[
        str, str
    ]  # source of the cell that counts, by exercise id; without those that are missing
    own: tuple[str, ...]  # ids of the cells that the student added, in the notebook
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # for the feedback, by exercise id


def rebuild(lesson: Lesson, master: NotebookNode, submission: Submission) -> Rebuilt:
    """Put a submission into the master copy.

    Args:
        master: the student notebook as it was released.

    Raises:
        Unreadable: no cell belongs to any exercise.
    """
    owners = [_belongs(cell, lesson.exercises) for cell in submission.cells]
    given = _given_cells(master)
    answers, notes, used = {}, {}, set()
    for exercise in lesson.exercises:
        index, remarks, mine = _choose(exercise, submission.cells, owners, given)
        used |= mine
        if index is not None:
            answers[exercise.id] = submission.cells[index].source
        if remarks:
            notes[exercise.id] = remarks
    if not answers:
        raise Unreadable(
            f"no exercise cell of {lesson.assignment} is in it: no '# @exercise …' line, and none of the names "
            "that the lesson asks for. Is it another notebook?"
        )
    own = _own_cells(submission.cells, used, master, lesson)
    return _assemble(lesson, master, answers, own, notes)


def _belongs(cell: Cell, exercises: Sequence[Exercise]) -> set[str]:
    """Ids of the exercises that a cell belongs to by its marker or, failing that, its grade id."""
    if marked := marked_exercises(cell.source) & {exercise.id for exercise in exercises}:
        return marked
    return {exercise.id for exercise in exercises if cell.grade_id == answer_cell(exercise.id)}


def _choose(
    exercise: Exercise, cells: Sequence[Cell], owners: Sequence[set[str]], given: Sequence[NotebookNode]
) -> tuple[int | None, tuple[str, ...], set[int]]:
    """The cell that counts, remarks for the student, and every cell that belongs to the exercise."""
    names = set(exercise.defines)
    mine = [index for index, ids in enumerate(owners) if exercise.id in ids]
    defining = [index for index in mine if names & defined(cells[index].source, names)]
    elsewhere = [
        index
        for index, cell in enumerate(cells)
        if not owners[index]
        and names & defined(cell.source, names, strictly=True)
        and _given(cell, given) is None  # "Stuck? Carry on" defines the name, too, and is no answer
    ]
    remarks: tuple[str, ...] = ()
    if defining:
        if len(defining) > 1:
            remarks = (
                f"{len(defining)} cells of this exercise define {exercise.name}; the last one counted.",
            )
        if elsewhere:
            remarks += (
                f"You also define {exercise.name} in a cell of your own; the exercise's cell counted.",
            )
        return defining[-1], remarks, set(mine)
    if elsewhere:
        return (
            elsewhere[-1],
            (f"Found by its name, in a cell without '# @exercise {exercise.id}'.",),
            {*mine, elsewhere[-1]},
        )
    return (mine[-1] if mine else None), (), set(mine)


def defined(source: str, names: set[str], strictly: bool = False) -> set[str]:
    """Which of the names a cell defines at its top level.

    Where a cell does not parse, a line that begins with `def name` counts, unless strictly.
    """
    there = bound(source)
    if there is None:
        if strictly:
            return set()
        return {
            name
            for name in names
            if re.search(rf"^(async\s+def|def|class)\s+{name}\b|^{name}\s*=", source, re.M)
        }
    return {*there} & names


def _own_cells(
    cells: Sequence[Cell], used: set[int], master: NotebookNode, lesson: Lesson
) -> dict[str, list[str]]:
    """The student's own code, by the id of the master's cell that it stood behind ("" for the beginning)."""
    given = _given_cells(master)
    own: dict[str, list[str]] = defaultdict(list)
    behind, count = "", 0
    for index, cell in enumerate(cells):
        if index in used:
            ids = _belongs(cell, lesson.exercises) or {
                exercise.id
                for exercise in lesson.exercises
                if set(exercise.defines) & defined(cell.source, set(exercise.defines))
            }
            behind = max((answer_cell(id) for id in ids), default=behind)
        elif (same := _given(cell, given)) is not None:
            behind = same
        elif cell.source.strip() and count < MAX_OWN_CELLS:
            own[behind].append(cell.source)
            count += 1
    return own


def _given_cells(master: NotebookNode) -> list[NotebookNode]:
    """The code cells of the master copy that are no exercise's."""
    return [cell for cell in master.cells if cell.cell_type == "code" and role(cell.id) is not Role.ANSWER]


def _given(cell: Cell, given: Sequence[NotebookNode]) -> str | None:
    """The id of the master's cell that this one is, as released or a little edited; None: the student's own."""
    source = cell.source.strip()
    for candidate in given:
        nbgrader = candidate.metadata.get("nbgrader", {})
        if source == candidate.source.strip() or (
            cell.grade_id and cell.grade_id == nbgrader.get("grade_id")
        ):
            return candidate.id
    lines = source.splitlines()
    for candidate in given:
        theirs = candidate.source.strip().splitlines()
        if min(len(lines), len(theirs)) < 3 or max(len(lines), len(theirs)) > 4 * min(
            len(lines), len(theirs)
        ):
            continue
        if cell.id == candidate.id or lines[0] == theirs[0]:
            matcher = SequenceMatcher(None, lines, theirs, autojunk=False)
            if matcher.real_quick_ratio() >= 0.6 and matcher.quick_ratio() >= 0.6:
                return candidate.id
    return None


def _assemble(
    lesson: Lesson,
    master: NotebookNode,
    answers: Mapping[str, str],
    own: Mapping[str, Sequence[str]],
    notes: Mapping[str, tuple[str, ...]],
) -> Rebuilt:
    sources = {answer_cell(id): source for id, source in answers.items()}
    absent = {answer_cell(exercise.id) for exercise in lesson.exercises if exercise.id not in answers}
    rebuilt = deepcopy(master)
    cells: list[NotebookNode] = []
    added: list[str] = []

    def add(behind: str) -> None:
        for source in own.get(behind, ()):
            name = own_cell(len(added) + 1)
            added.append(name)
            cells.append(nbformat.v4.new_code_cell(source, id=name))

    add("")
    for cell in rebuilt.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if cell.id in sources:
            cell.source = sources[cell.id]
        elif cell.id in absent:
            cell.source = f"{cell.source.splitlines()[0]}\n# (there was no cell for this exercise)"
        cells.append(cell)
        add(cell.id)
    rebuilt.cells = cells
    return Rebuilt(notebook=rebuilt, answers=dict(answers), own=tuple(added), notes=dict(notes))
