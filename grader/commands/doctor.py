"""`grader doctor`: what this machine is good for."""

from __future__ import annotations

from grader.commands.console import Terminal
from grader.execution.doctor import examine


def run(terminal: Terminal) -> int:
    """Print what was found; returns the exit status."""
    for line in examine():
        terminal.say(line)
    return 0
