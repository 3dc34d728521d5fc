"""A notebook with few steps of training: all of its cells run, and nothing is learned."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

# How long the trainings are that `train_steps` does not shorten: constants of given cells, and default arguments.
FEW_STEPS = {"POCKET_EPOCHS": 2, "POCKET_BATCHES": 6, "SHORT_STEPS": 12}  # a plot takes the mean of ten
FEW_BY_DEFAULT = {"train_on": 2}

SHORTEN = f"""
train_steps = 2
globals().update({{name: few for name, few in {FEW_STEPS!r}.items() if name in globals()}})
for name, few in {FEW_BY_DEFAULT!r}.items():
    if name in globals():
        globals()[name].__defaults__ = (few,)
"""
# Figures are made and not drawn: to draw them takes a third of a lesson's time.
UNDRAWN = """
import matplotlib.pyplot
matplotlib.pyplot.show = lambda *_, **__: matplotlib.pyplot.close("all")
"""


def shorten(notebook: NotebookNode, draws: bool = True) -> None:
    """Insert a cell that shortens all trainings after each cell that could say how long they are.

    Args:
        draws: whether figures are drawn.
    """
    cells = []
    code = SHORTEN if draws else SHORTEN + UNDRAWN
    for cell in notebook.cells:
        cells.append(cell)
        if cell.id == "setup" or cell.id.startswith("provided"):
            cells.append(new_code_cell(code, id=f"few-{cell.id}"))
    assert len(cells) > len(notebook.cells)
    notebook.cells = cells
