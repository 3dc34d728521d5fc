"""Which cells need not run, because everything that is judged can be judged without them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from nbformat import NotebookNode

from grader.checks.plan import Planned
from grader.exercise import Lesson
from grader.names import DYNAMIC, bound, imported, taken, words


def not_needed(
    lesson: Lesson, notebook: NotebookNode, asked: Sequence[Planned], own: Collection[str]
) -> list[str]:
    """Ids of cells that do nothing here, and of given cells that neither a probe nor a cell that runs needs.

    Self-checks do nothing, and neither does a cell to carry on with that is off. A given cell that nobody needs
    only draws, or only defines what is provided, or trains what is not asked about. A student's cells always run.
    One that looks names up as it runs may need everything that is provided.

    Args:
        asked: what is judged in this run.
        own: ids of the cells that the student added.
    """
    cells = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}
    idle = [
        id
        for id, cell in cells.items()
        if id.startswith("check-") or (id.startswith("stuck-") and "carry_on = False" in cell.source)
    ]
    trains = {check.at for exercise in lesson.exercises for check in exercise.checks if check.at}
    looking = look_around(cells.values(), own)
    skipped = {
        id
        for id, cell in cells.items()
        if "draws" in cell.metadata.get("tags", ())
        or ((id == "tools" or id.startswith("provided-")) and not looking)
        or id in trains - {one.cell for one in asked}
    }
    probed = frozenset().union(*(one.takes for one in asked))
    while True:
        running = [cell.source for id, cell in cells.items() if id not in skipped and id not in idle]
        wanted, there = probed.union(*map(_taken, running)), frozenset().union(*map(imported, running))
        back = {id for id in skipped if _gives(cells[id].source, there) & wanted}
        if not back:
            return [*idle, *skipped]
        skipped -= back


def look_around(cells: Iterable[NotebookNode], own: Collection[str]) -> bool:
    """Whether the student's code among these may look names up as it runs."""
    return any(
        DYNAMIC.search(cell.source) for cell in cells if cell.id in own or cell.id.startswith("exercise-")
    )


def _gives(source: str, there: Collection[tuple[str, str]]) -> frozenset[str]:
    """What a cell binds, without what others import as well."""
    return (bound(source) or frozenset()) - {name for name, what in imported(source) if (name, what) in there}


def _taken(source: str) -> frozenset[str]:
    """What a cell takes from others; of one that is no plain Python, everything that it speaks of."""
    return words(source) if bound(source) is None else taken(source)
