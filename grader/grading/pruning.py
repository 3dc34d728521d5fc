"""Leave out cells that no verdict depends on."""

from __future__ import annotations

from collections.abc import Collection

from nbformat import NotebookNode

from grader.checks.planned_trial import PlannedTrial
from grader.declaration.lesson import Lesson
from grader.notebook.cells import Role, is_off, only_draws, role
from grader.notebook.source_names import bound_names, free_names, imported_names, mentioned_names
from grader.notebook.student_code import student_looks_names_up


def unneeded_cells(
    lesson: Lesson, notebook: NotebookNode, own: Collection[str], trials: Collection[PlannedTrial]
) -> list[str]:
    """List the ids of the cells that need not run.

    Two kinds. Cells without any effect when grading: self-checks, and carry-on cells that are off. And given cells that
    draw, define provided code, or train an object that no trial probes: each of these is left out unless a probe, or a
    cell that runs, uses a name that it binds. A student's cells always run. Where one of them looks names up as it runs,
    all provided code runs, too.

    Args:
        own: ids of the cells that the student added.
        trials: what is probed in this run.
    """
    cells = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}
    without_effect = [id for id, cell in cells.items() if _has_no_effect(id, cell.source)]
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
        running = [
            cell.source for id, cell in cells.items() if id not in skipped and id not in without_effect
        ]
        used = probed.union(*map(_used_names, running))
        imports = frozenset().union(*map(imported_names, running))
        needed = {id for id in skipped if _provided_names(cells[id].source, imports) & used}
        if not needed:
            return [*without_effect, *skipped]
        skipped -= needed


def _has_no_effect(cell: str, source: str) -> bool:
    """Tell whether a cell does nothing when grading: the grader's own checks replace the self-checks."""
    return role(cell) is Role.CHECK or (role(cell) is Role.CARRY_ON and is_off(source))


def _provided_names(source: str, imports: Collection[tuple[str, str]]) -> frozenset[str]:
    """Return the names that a cell binds, without imports that cells which run make as well."""
    imported_elsewhere = {name for name, what in imported_names(source) if (name, what) in imports}
    return (bound_names(source) or frozenset()) - imported_elsewhere


def _used_names(source: str) -> frozenset[str]:
    """Return the names that a cell uses and does not bind; all names that it mentions where it does not parse."""
    return mentioned_names(source) if bound_names(source) is None else free_names(source)
