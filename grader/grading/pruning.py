"""Leave out cells that no verdict depends on."""

from collections.abc import Collection, Iterable

from nbformat import NotebookNode

from grader.declare.lesson import Lesson
from grader.judge.planned_trial import PlannedTrial
from grader.submission.cells import Role, exercise_of, is_off, only_draws, role
from grader.submission.code.source import parsed


def unneeded_cells(
    lesson: Lesson, notebook: NotebookNode, own: Collection[str], trials: Collection[PlannedTrial]
) -> list[str]:
    """List the ids of the cells that need not run.

    Two kinds of cells need not run:
    - Self-checks, which the grader's own checks replace, and carry-on cells that are off: they have no effect.
    - Given cells that only draw, define provided code, or train an object that no trial probes. Such a cell
      runs nevertheless if a probe, or another cell that runs, uses a name that it binds.

    Answers and the cells that the student added always run. If the student's code looks names up as it runs,
    all provided code runs, too.

    Args:
        own: ids of the cells that the student added.
        trials: the trials that are probed in this run.
    """
    cells = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}
    without_effect = [
        id
        for id, cell in cells.items()
        if role(id) is Role.CHECK or (role(id) is Role.CARRY_ON and is_off(cell.source, exercise_of(id) or ""))
    ]
    trains = lesson.training_cells
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
        running = [cell.source for id, cell in cells.items() if id not in skipped and id not in without_effect]
        used = probed.union(*map(_used_names, running))
        imports = frozenset().union(*(parsed(source).imports for source in running))
        needed = {id for id in skipped if _provided_names(cells[id].source, imports) & used}
        if not needed:
            return [*without_effect, *skipped]
        skipped -= needed


def _provided_names(source: str, imports: Collection[tuple[str, str]]) -> frozenset[str]:
    """Return the names that a cell binds, except `imports` that a running cell makes, too."""
    imported_elsewhere = {name for name, what in parsed(source).imports if (name, what) in imports}
    return (parsed(source).bound or frozenset()) - imported_elsewhere


def _used_names(source: str) -> frozenset[str]:
    """Return the names that a cell reads and does not bind, or all that it mentions if it does not parse."""
    return parsed(source).mentioned if parsed(source).bound is None else parsed(source).free


def student_looks_names_up(cells: Iterable[NotebookNode], own: Collection[str]) -> bool:
    """Tell whether an answer, or one of the student's `own` cells, may look names up, as with `globals()`."""
    return any(parsed(cell.source).looks_names_up for cell in cells if cell.id in own or role(cell.id) is Role.ANSWER)
