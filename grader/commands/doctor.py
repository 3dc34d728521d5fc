"""`grader doctor`: reports what this machine supports, and what is missing."""

import json
from dataclasses import asdict

from grader.commands.console import Terminal
from grader.commands.given_file import is_standard_output, write_lines
from grader.commands.options import DoctorOptions
from grader.sandbox.doctor import examine, report


def run(options: DoctorOptions, terminal: Terminal) -> None:
    """Print the report about this machine, and write it as a JSON object to the file of --json."""
    machine = examine()
    if not is_standard_output(options.json):
        for line in report(machine):
            terminal.say(line)
    if options.json is not None:
        write_lines(options.json, [json.dumps(asdict(machine))], terminal.out.file)
