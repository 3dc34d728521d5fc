"""`grader doctor`: report what this machine can do, and what is missing."""

from __future__ import annotations

from grader.commands.console import Terminal
from grader.execution.doctor import examine


def run(terminal: Terminal) -> int:
    """Print the report; return the exit status, which is always 0."""
    for line in examine():
        terminal.say(line)
    return 0
