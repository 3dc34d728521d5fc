"""Reads the class from the gradebook for commands that show or export it, and writes its pages again."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.classes.gradebook.config import CourseConfig
from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.reader import read_class, read_entry, read_whole_grades
from grader.classes.results.folders import PAGES, autograded_notebook, write_feedback
from grader.classes.results.pages import class_predictions, page_of
from grader.commands.given_file import write_result
from grader.records import GradebookEntry
from grader.report.class_page import class_page

# The class page shows each check up to so many submissions: to read the checks of one takes 1.3 ms and some 30 KB.
MOST_WITH_CHECKS = 2000


def recorded_entries(config: CourseConfig, assignment: str | None = None) -> Sequence[GradebookEntry]:
    """Return the entries of an assignment, or of all assignments if `assignment` is None.

    An entry is the gradebook's record of one submission.

    Raises:
        RecordError: there are no entries, or they cannot be read.
    """
    entries = read_class(config.gradebook, config.course_id)
    known = sorted({entry.assignment for entry in entries})
    if not known:
        raise RecordError("the gradebook contains no submission yet. Run: grader grade PATH")
    chosen = [entry for entry in entries if assignment in (None, entry.assignment)]
    if not chosen:
        raise RecordError(f"the gradebook contains no submission of {assignment!r}. Choose one of {', '.join(known)}.")
    return chosen


def with_checks(config: CourseConfig, entries: Sequence[GradebookEntry]) -> Sequence[GradebookEntry]:
    """Return copies of entries whose grades contain their checks, which `recorded_entries` leaves out.

    Raises:
        RecordError: the gradebook cannot be read.
    """
    grades = read_whole_grades(config.gradebook, config.course_id)
    whole = {(grade.student, grade.assignment): grade for grade in grades}
    return [replace(entry, grade=whole.get((entry.student.id, entry.assignment), entry.grade)) for entry in entries]


def whole_class_page(config: CourseConfig, entries: Sequence[GradebookEntry], pages: str = "") -> str:
    """Return the page of the class with its predictions.

    Args:
        pages: the address of a student's page, as for `class_page`.
    """
    return class_page(entries, class_predictions(config.results / "autograded", entries), pages)


def write_page(config: CourseConfig, entry: GradebookEntry) -> Path:
    """Write a student's feedback page from the gradebook's present content, and return its path.

    Raises:
        RecordError: the page cannot be written.
    """
    student, assignment = entry.student.id, entry.assignment
    whole = read_entry(config.gradebook, config.course_id, student, assignment)
    page = page_of(whole or entry, autograded_notebook(config.results / "autograded", student, assignment))
    return write_feedback(config.results / "feedback", student, assignment, page)


def write_class_page(config: CourseConfig, everybody: Sequence[GradebookEntry], folder: Path) -> Path:
    """Write the page of the class next to the students' pages in `folder`, and return its path.

    For a large class, the page leaves out the checks.
    """
    shown = with_checks(config, everybody) if len(everybody) <= MOST_WITH_CHECKS else everybody
    page = folder / "class.html"
    write_result(page, class_page(shown, pages=PAGES))
    return page


def write_pages_again(config: CourseConfig, entry: GradebookEntry) -> Path:
    """Write a student's feedback page again, and return its path.

    Also write the page of the class again, if `grader grade` has written one.
    """
    page = write_page(config, entry)
    folder = config.results / "feedback"
    if (folder / "class.html").is_file():
        write_class_page(config, read_class(config.gradebook, config.course_id), folder)
    return page
