"""`grader doctor`: report what this machine can do, and what is missing."""

from __future__ import annotations

import json as json_format
from dataclasses import asdict
from pathlib import Path

from grader.commands.console import Terminal
from grader.commands.output_file import CannotWrite, is_standard_output, write_lines
from grader.sandbox.doctor import examine, report


def run(terminal: Terminal, json: Path | None = None) -> int:
    """Print the report, and write it as a JSON object to a file; return the exit status: 2 if that cannot be written."""
    machine = examine()
    if not is_standard_output(json):
        for line in report(machine):
            terminal.say(line)
    if json is not None:
        try:
            write_lines(json, [json_format.dumps(asdict(machine))], terminal.out.file)
        except CannotWrite as error:
            terminal.complain(error)
            return 2
    return 0
