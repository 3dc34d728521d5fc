"""Find what can stand in for a failed exercise: its carry-on cell, or the source that its declaration has for this.

The student has the carry-on cell, too, so it reveals nothing; classes, gradients and training work with it as they do for
the student. An exercise of a line or two has none: its stand-in is put in where the carry-on cell would be, and only where
the exercise itself is not judged (docs/security.md says what can be read of it). The reference never enters the sandbox.
"""

from collections.abc import Collection
from copy import deepcopy

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from grader.declare.lesson import Lesson
from grader.submission.cells import answer_cell, carry_on_cell, is_off, switched_on


def stand_ins(lesson: Lesson, notebook: NotebookNode) -> frozenset[str]:
    """Return the exercises that have a stand-in."""
    present = {cell.id for cell in notebook.cells}
    return frozenset(
        exercise.id for exercise in lesson.exercises if exercise.stand_in or carry_on_cell(exercise.id) in present
    )


def with_stand_ins(lesson: Lesson, notebook: NotebookNode, exercises: Collection[str]) -> NotebookNode:
    """Return a copy of a notebook in which stand-ins replace these exercises; one without a stand-in stays as it is."""
    copy = deepcopy(notebook)
    switched = {carry_on_cell(id) for id in exercises}
    put_in = {answer_cell(id): id for id in exercises if lesson.exercise(id).stand_in}
    cells = []
    for cell in copy.cells:
        if cell.id in switched:
            cell.source = switched_on(cell.source)
        cells.append(cell)
        if id := put_in.get(cell.id):
            cells.append(new_code_cell(lesson.exercise(id).stand_in, id=carry_on_cell(id)))
    copy.cells = cells
    return copy


def carried_on(lesson: Lesson, notebook: NotebookNode) -> frozenset[str]:
    """Return the ids of the exercises whose carry-on cell is switched on."""
    sources = {cell.id: cell.source for cell in notebook.cells}
    return frozenset(
        exercise.id
        for exercise in lesson.exercises
        if (source := sources.get(carry_on_cell(exercise.id))) is not None and not is_off(source)
    )
