"""The cells of a lesson's script: each script is read once, however many tests ask for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jupytext
from nbformat import NotebookNode

SOLUTIONS = Path(__file__).parents[1] / "solutions"


@cache
def cells_of(assignment: str) -> tuple[NotebookNode, ...]:
    """Read the cells of `solutions/<assignment>.py`; no test changes them."""
    return tuple(jupytext.read(SOLUTIONS / f"{assignment}.py", fmt="py:percent").cells)
