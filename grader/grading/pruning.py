"""Which cells need not run, because everything that is judged can be judged without them."""

from __future__ import annotations

from collections.abc import Collection

from nbformat import NotebookNode

from grader.checks.planned_trial import PlannedTrial
from grader.declaration.lesson import Lesson
from grader.notebook.cells import Role, is_off, only_draws, role
from grader.notebook.source_names import bound, imported, taken, words
from grader.notebook.student_code import student_looks_names_up


def unneeded_cells(
    lesson: Lesson, notebook: NotebookNode, own: Collection[str], trials: Collection[PlannedTrial]
) -> list[str]:
    """List the ids of cells that do nothing here, and of given cells that neither a probe nor a cell that runs needs.

    Self-checks do nothing, and neither does a carry-on cell that is off. A given cell that nothing needs only draws, or
    only defines what is provided, or trains something that is not probed. A student's cells always run. A student's cell
    that looks names up as it runs may need everything that is provided.

    Args:
        own: ids of the cells that the student added.
        trials: what is probed in this run.
    """
    cells = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}
    idle = [id for id, cell in cells.items() if _is_idle(id, cell.source)]
    trains = {check.at for exercise in lesson.exercises for check in exercise.checks if check.at}
    dynamic = student_looks_names_up(cells.values(), own)
    skipped = {
        id
        for id, cell in cells.items()
        if only_draws(cell)
        or (role(id) in (Role.TOOLS, Role.PROVIDED) and not dynamic)
        or id in trains - {trial.cell for trial in trials}
    }
    probed = frozenset().union(*(trial.takes for trial in trials))
    while True:
        running = [cell.source for id, cell in cells.items() if id not in skipped and id not in idle]
        wanted, there = probed.union(*map(_taken, running)), frozenset().union(*map(imported, running))
        back = {id for id in skipped if _gives(cells[id].source, there) & wanted}
        if not back:
            return [*idle, *skipped]
        skipped -= back


def _is_idle(cell: str, source: str) -> bool:
    return role(cell) is Role.CHECK or (role(cell) is Role.CARRY_ON and is_off(source))


def _gives(source: str, there: Collection[tuple[str, str]]) -> frozenset[str]:
    """Return what a cell binds, without what other cells import as well."""
    return (bound(source) or frozenset()) - {name for name, what in imported(source) if (name, what) in there}


def _taken(source: str) -> frozenset[str]:
    """Return what a cell takes from others; of one that is no plain Python, every name that it mentions."""
    return words(source) if bound(source) is None else taken(source)
