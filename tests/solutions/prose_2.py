"""What lesson 2 says, for the tests that hold its numbers."""

from __future__ import annotations

import re
from pathlib import Path

from torch import nn

from tests.scripts import cells_of

SCRIPT = Path(__file__).parents[2] / "solutions" / "2-heads.py"
CELLS = [cell for cell in cells_of("2-heads") if cell.cell_type == "markdown"]
PROSE = " ".join(" ".join(cell.source.split()) for cell in CELLS)
# Training adds up rounding: another processor may end one or two digits away.
NEAR = 0.012


def says(pattern: str) -> list[float]:
    """The numbers in the groups of a pattern, which the prose must hold exactly once.

    `#` in the pattern stands for a number: 0.967, 2,080, −1.
    """
    found = re.findall(pattern.replace("#", r"(−?\d[\d,]*(?:\.\d+)?)"), PROSE)
    assert len(found) == 1, f"{len(found)} times in the prose: {pattern}"
    groups = found[0] if isinstance(found[0], tuple) else (found[0],)
    return [float(group.replace(",", "").replace("−", "-")) for group in groups]


def size(layer: nn.Module) -> int:
    return sum(parameter.numel() for parameter in layer.parameters())
