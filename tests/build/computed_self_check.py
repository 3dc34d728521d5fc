"""The self-checks of a lesson: computed anew, as a build does that finds nothing, and as the committed notebooks have them."""

from functools import cache
from typing import Any

import nbformat

from grader.build.self_check_cell import SelfChecks, read_self_checks, self_checks
from grader.build.self_check_numbers import drafted, settled
from grader.declare.exercise import Exercise
from grader.declare.lesson import Lesson
from grader.submission.cells import TOOLS_CELL
from tests.import_graph import ROOT


def known_exercise(lesson: Lesson, exercise: Exercise) -> dict[str, Any]:
    return settled(drafted(lesson, exercise), ())


def computed_self_checks(lesson: Lesson) -> SelfChecks:
    return self_checks(lesson, {one.id: known_exercise(lesson, one) for one in lesson.exercises})


def committed_cell(assignment: str) -> str:
    """Return the source of the cell of self-checks in a committed notebook, without its title."""
    book = nbformat.read(ROOT / "solutions" / assignment / f"{assignment}.ipynb", as_version=4)
    (source,) = (cell.source for cell in book.cells if cell.id == TOOLS_CELL)
    return source.partition("\n")[2]


@cache
def committed_self_checks(assignment: str) -> SelfChecks:
    """Read what a committed notebook's cell of self-checks holds."""
    checks = read_self_checks(committed_cell(assignment))
    assert checks is not None
    return checks
