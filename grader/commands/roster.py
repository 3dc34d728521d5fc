"""`grader roster`: give the students in the gradebook the names that the platform has, and add who is missing."""

from pathlib import Path

from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.rows import write_students
from grader.commands.console import Terminal
from grader.commands.given_file import read_own_file
from grader.commands.options import RosterOptions
from grader.complaint import Complaint
from grader.report.services.roster import read_roster
from grader.report.text import some


def run(file: Path, options: RosterOptions, terminal: Terminal) -> None:
    """Write the people of a platform's own list into the gradebook."""
    listed = read_own_file(file, read_roster)
    if not listed:
        raise Complaint(f"{file}: there is no student in it")
    config = read_config(options.root, options.gradebook)
    named = write_students(config.gradebook, config.course_id, listed)
    terminal.say(f"{named.completed} students have the names of {file.name}, {named.added} were added")
    if named.not_listed:
        terminal.complain(f"in the gradebook, and not in {file.name}: {some(named.not_listed)}")
