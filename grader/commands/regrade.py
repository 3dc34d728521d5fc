"""`grader regrade`: grades one student's recorded submissions again, and prints the changes."""

from dataclasses import fields
from pathlib import Path

from grader.classes.gradebook.config import read_config
from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.reader import read_class
from grader.commands.console import Terminal
from grader.commands.grade import run as grade
from grader.commands.options import GradeOptions, RegradeOptions
from grader.complaint import Complaint
from grader.records import GradebookEntry
from grader.report.text import clean, number, or_dash

SUBMITTED = "submitted"  # nbgrader's folder of submissions


def run(options: RegradeOptions, terminal: Terminal) -> int:
    """Grade one student's submissions again, print the changes, and return the exit status."""
    student = options.student
    config = read_config(options.root, options.gradebook)
    folder = config.results / config.config.CourseDirectory.get("submitted_directory", SUBMITTED)
    before = _of(student, read_class(config.gradebook, config.course_id, options.assignment))
    paths = options.paths or [_folder_with(student, folder)]
    if not before:
        raise Complaint(f"the gradebook contains no submission of {clean(student)!r}. Run grader grade PATH first.")
    asked = {field.name: getattr(options, field.name) for field in fields(options)}
    status = grade(GradeOptions(**{**asked, "paths": paths, "jobs": 1, "force": True}), terminal)
    after = _of(student, read_class(config.gradebook, config.course_id, options.assignment))
    for assignment, entry in after.items():
        for line in _changes(before.get(assignment), entry):
            terminal.say(line)
    return status


def _folder_with(student: str, submitted: Path) -> Path:
    """Return the folder of all submissions, if it contains submissions of the student.

    Raises:
        RecordError: the folder contains no submission of the student.
    """
    if Path(student).name != student or not (submitted / student).is_dir():
        raise RecordError(
            f"{submitted / student} contains no submission of {clean(student)!r}. If it came in a zip, pass that: "
            "grader regrade STUDENT --from submissions.zip"
        )
    return submitted


def _of(student: str, entries: list[GradebookEntry]) -> dict[str, GradebookEntry]:
    """Return a student's submissions, by assignment."""
    return {entry.assignment: entry for entry in entries if entry.student.id == student and entry.status != "missing"}


def _changes(before: GradebookEntry | None, after: GradebookEntry) -> list[str]:
    """Return lines with the scores before and after, and with each exercise whose points changed."""
    lines = [
        f"{after.assignment}: {or_dash(before.score if before else None)} → "
        f"{or_dash(after.score)} of {number(after.max_score)}"
    ]
    if before is not None and before.grade.submission_sha256 != after.grade.submission_sha256:
        lines.append("    the file is not the one that was graded before")
    for name, cell in after.cells.items():
        old = before.cells.get(name) if before else None
        if old is not None and old.points != cell.points:
            lines.append(f"    {name}: {or_dash(old.points)} → {or_dash(cell.points)}")
    return lines
