"""`grader doctor`: what this machine is good for."""

from __future__ import annotations

from rich.console import Console

from grader.execution.doctor import examine


def run(*, out: Console) -> int:
    """Print what was found; returns the exit status."""
    for line in examine():
        out.print(str(line), markup=False, soft_wrap=True)
    return 0
