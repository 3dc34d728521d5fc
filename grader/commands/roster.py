"""`grader roster`: give the students in the gradebook the names that the platform has, and add who is missing."""

from __future__ import annotations

from pathlib import Path

from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.students import write_students
from grader.commands.console import Terminal
from grader.commands.own_file import read_own_file
from grader.records import Student
from grader.report.export import WrongOwnFile
from grader.report.services.roster import Listed, read_roster
from grader.report.text import some


def run(file: Path, *, root: Path, gradebook: str | None, terminal: Terminal) -> int:
    """Write the people of a platform's own list into the gradebook; return the exit status."""
    try:
        listed = {_student(one): one.logins for one in read_roster(read_own_file(file))}
    except WrongOwnFile as error:
        terminal.complain(f"{file}: {error}")
        return 2
    if not listed:
        terminal.complain(f"{file}: there is no student in it")
        return 2
    try:
        config = read_config(root)
        named = write_students(gradebook or config.gradebook, config.course_id, listed)
    except RecordError as error:
        terminal.complain(error)
        return 2
    terminal.say(f"{named.completed} students have the names of {file.name}, {named.added} were added")
    if named.not_listed:
        terminal.complain(f"in the gradebook, and not in {file.name}: {some(named.not_listed)}")
    return 0


def _student(one: Listed) -> Student:
    return Student(
        id=one.number, first_name=one.first_name, last_name=one.last_name, email=one.email, lms_id=one.number
    )
