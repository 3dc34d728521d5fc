"""Tell whether the student's code in a notebook may use names that it does not mention."""

from collections.abc import Collection, Iterable

from nbformat import NotebookNode

from grader.submission.cells import Role, role
from grader.submission.code.source_names import looks_names_up


def student_looks_names_up(cells: Iterable[NotebookNode], own: Collection[str]) -> bool:
    """Tell whether an answer, or a cell that the student added, may look names up, as with `globals()`.

    Args:
        own: ids of the cells that the student added.
    """
    return any(looks_names_up(cell.source) for cell in cells if cell.id in own or role(cell.id) is Role.ANSWER)
