"""What readers see: the numbers that the committed notebooks print at their own seed, with the kernels of two processors."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results" / "reader.txt"


@cache
def printed_by(assignment: str) -> list[dict[str, str]]:
    """For each processor's kernels, what each cell printed, by the cell's id."""
    lines = [json.loads(line) for line in RESULTS.read_text("utf-8").splitlines()]
    found = {line["kernels"]: line["printed"] for line in lines if line["assignment"] == assignment}
    assert "DEFAULT" in found, f"{assignment}: no line with the plainest kernels"
    assert len(found) > 1, f"{assignment}: no line with other kernels"
    return list(found.values())


def seen(assignment: str, cell: str, pattern: str) -> list[float]:
    """The numbers that a pattern finds in what a cell printed, one for each processor's kernels; `#` stands for the number."""
    numbers = [re.findall(pattern.replace("#", r"(-?\d+\.\d+)"), texts[cell], re.M) for texts in printed_by(assignment)]
    assert all(len(found) == 1 for found in numbers), (
        f"{cell}: {pattern!r} is found {[len(found) for found in numbers]} times"
    )
    return [float(found[0]) for found in numbers]
