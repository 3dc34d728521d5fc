"""`grader students`: write the zip that students get."""

import re

from grader.build.student_zip import handed_out
from grader.classes.gradebook.config import read_config
from grader.commands.console import Terminal
from grader.commands.given_file import write_result
from grader.commands.options import StudentsOptions
from grader.complaint import Complaint
from grader.paths import own_lessons


def run(options: StudentsOptions, terminal: Terminal) -> None:
    """Write the zip."""
    root = options.root
    if options.server and not re.fullmatch(r"https?://[^\s'\"]+", options.server):
        raise Complaint(f"--server {options.server!r} is no address, as in https://grade.example.org")
    # A course of one's own has a name of its own; the repository's zip has the project's.
    own = read_config(root).course_id if own_lessons() is not None else ""
    name, content = handed_out(root, re.sub(r"[^\w.-]+", "-", own), options.server.rstrip("/"))
    path = options.to or root / "dist" / f"{name}.zip"
    write_result(path, content)
    terminal.say(f"wrote {path}")
