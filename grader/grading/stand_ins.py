"""Replace failed answers by the stand-ins that the exercises declare, so that later exercises can be judged.

Classes, gradients and training work with a stand-in as they do with the student's `carry_on`, which runs the same source.
It is put in only where the exercise itself is not judged. The reference never enters the sandbox.
"""

from collections.abc import Collection
from copy import deepcopy

from nbformat import NotebookNode

from grader.declare.lesson import Lesson
from grader.submission.cells import carry_on_cell


def stand_ins(lesson: Lesson) -> frozenset[str]:
    """Return the exercises that have a stand-in."""
    return frozenset(exercise.id for exercise in lesson.exercises if exercise.stand_in)


def with_stand_ins(lesson: Lesson, notebook: NotebookNode, exercises: Collection[str]) -> NotebookNode:
    """Return a copy of a notebook in which the carry-on cells of these exercises contain the stand-ins.

    An exercise without a stand-in stays as it is.
    """
    copy = deepcopy(notebook)
    sources = {carry_on_cell(id): lesson.exercise(id).stand_in_source for id in exercises}
    for cell in copy.cells:
        cell.source = sources.get(cell.id) or cell.source
    return copy
