"""`grader roster`: give the students in the gradebook the names that the platform has, and add who is missing."""

from pathlib import Path

from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.students import write_students
from grader.commands.console import Terminal
from grader.commands.options import RosterOptions
from grader.commands.own_file import read_own_file
from grader.complaint import Complaint
from grader.records import Student
from grader.report.services.roster import Listed, read_roster
from grader.report.text import some


def run(file: Path, options: RosterOptions, terminal: Terminal) -> None:
    """Write the people of a platform's own list into the gradebook."""
    listed = {_student(one): one.logins for one in read_own_file(file, read_roster)}
    if not listed:
        raise Complaint(f"{file}: there is no student in it")
    config = read_config(options.root)
    named = write_students(options.gradebook or config.gradebook, config.course_id, listed)
    terminal.say(f"{named.completed} students have the names of {file.name}, {named.added} were added")
    if named.not_listed:
        terminal.complain(f"in the gradebook, and not in {file.name}: {some(named.not_listed)}")


def _student(one: Listed) -> Student:
    return Student(
        id=one.number, first_name=one.first_name, last_name=one.last_name, email=one.email, lms_id=one.number
    )
