"""The students of a class: `grader students` and `grader roster`.

`grader students` writes the zip that students get. `grader roster` copies the platform's names to
the students in the gradebook, and adds students who are missing there.
"""

import re
from pathlib import Path

from grader.build.student_zip import handed_out
from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.rows import write_students
from grader.commands.console import Terminal
from grader.commands.given_file import read_own_file, write_result
from grader.commands.options import RosterOptions, StudentsOptions
from grader.complaint import Complaint
from grader.paths import own_lessons
from grader.report.services.roster import read_roster
from grader.report.text import some


def write_zip(options: StudentsOptions, terminal: Terminal) -> None:
    """Write the zip for students."""
    root = options.root
    if options.server and not re.fullmatch(r"https?://[^\s'\"]+", options.server):
        raise Complaint(f"--server {options.server!r} is not an address such as https://grade.example.org")
    # A course of one's own has a name of its own; the repository's zip has the project's.
    own = read_config(root).course_id if own_lessons() is not None else ""
    name, content = handed_out(root, re.sub(r"[^\w.-]+", "-", own), options.server.rstrip("/"))
    path = options.to or root / "dist" / f"{name}.zip"
    write_result(path, content)
    terminal.say(f"wrote {path}")


def take_names(file: Path, options: RosterOptions, terminal: Terminal) -> None:
    """Write the students in a platform's own list into the gradebook."""
    listed = read_own_file(file, read_roster)
    if not listed:
        raise Complaint(f"{file} contains no students")
    config = read_config(options.root, options.gradebook)
    named = write_students(config.gradebook, config.course_id, listed)
    terminal.say(f"updated the names of {named.completed} students from {file.name}, and added {named.added}")
    if named.not_listed:
        terminal.complain(f"in the gradebook, but not in {file.name}: {some(named.not_listed)}")
