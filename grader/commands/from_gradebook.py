"""Read the class from the gradebook, for the commands that only show it or hand it on; write a page of it anew."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.classes.gradebook.config import CourseConfig, read_config
from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.reader import read_class, read_entry, read_whole_grades
from grader.classes.results.folders import autograded_notebook, write_feedback
from grader.classes.results.pages import page_of
from grader.classes.results.recorded_answers import class_predictions
from grader.records import GradebookEntry
from grader.report.class_page import class_page


def recorded_entries(root: Path, gradebook: str | None, assignment: str | None = None) -> Sequence[GradebookEntry]:
    """Read the entries of an assignment, or of all.

    Args:
        root: the course's folder.
        gradebook: the gradebook's URL; None for the course's own.
        assignment: the assignment's name; None for all.

    Raises:
        RecordError: there are none, or the gradebook cannot be read.
    """
    config = read_config(root)
    entries = read_class(gradebook or config.gradebook, config.course_id)
    known = sorted({entry.assignment for entry in entries})
    if not known:
        raise RecordError("the gradebook holds no submission yet; run: grader grade PATH")
    chosen = [entry for entry in entries if assignment in (None, entry.assignment)]
    if not chosen:
        raise RecordError(f"the gradebook holds no submission of {assignment!r}; known are {', '.join(known)}")
    return chosen


def with_checks(entries: Sequence[GradebookEntry], root: Path, gradebook: str | None) -> Sequence[GradebookEntry]:
    """Return entries with the checks of their grades, which `recorded_entries` leaves out.

    Raises:
        RecordError: the gradebook cannot be read.
    """
    config = read_config(root)
    grades = read_whole_grades(gradebook or config.gradebook, config.course_id)
    whole = {(grade.student, grade.assignment): grade for grade in grades}
    return [replace(entry, grade=whole.get((entry.student.id, entry.assignment), entry.grade)) for entry in entries]


def whole_class_page(entries: Sequence[GradebookEntry], root: Path, gradebook: str | None) -> str:
    """Return the page of the class, with what it predicted.

    Raises:
        RecordError: the course's configuration cannot be read.
    """
    config = read_config(root)
    folder = config.results_folder(gradebook or config.gradebook)
    return class_page(entries, class_predictions(folder / "autograded", entries))


def write_page(config: CourseConfig, url: str, entry: GradebookEntry) -> Path:
    """Write the student's page, as the gradebook has it now; return its path.

    Raises:
        RecordError: it cannot be written.
    """
    student, assignment = entry.student.id, entry.assignment
    whole = read_entry(url, config.course_id, student, assignment)
    folder = config.results_folder(url)
    page = page_of(whole or entry, autograded_notebook(folder / "autograded", student, assignment))
    return write_feedback(folder / "feedback", student, assignment, page)
