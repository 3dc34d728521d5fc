"""Keeps everything that the web server knows of its course in one record, and reads the gradebook for a page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.classes.gradebook.config import CourseConfig, read_config
from grader.classes.gradebook.connection import sqlite_file
from grader.classes.gradebook.reader import read_class, read_due_dates, read_entry, read_students
from grader.classes.results.pages import is_current
from grader.commands.from_gradebook import write_page
from grader.course import lessons
from grader.paths import notebook_path
from grader.records import GradebookEntry, Student
from grader.report.page import without_solutions
from grader.secret import kept_secret
from grader.serve.settings import AFTER_DUE, BY_HAND, Settings, current_settings
from grader.serve.store import Store, now, text_of


@dataclass(frozen=True, kw_only=True)
class Site:
    """A course, its gradebook and its store.

    The methods that read the gradebook raise RecordError if there is a gradebook that cannot be read.
    """

    root: Path
    folder: Path  # where submitted/, feedback/ and autograded/ lie
    config: CourseConfig
    gradebook: str  # URL
    store: Store
    key: bytes

    @property
    def settings(self) -> Settings:
        """The present settings of serve.toml."""
        return current_settings(self.root)

    @property
    def course(self) -> str:
        """The course's name in the gradebook."""
        return self.config.course_id

    def open_assignments(self) -> dict[str, str]:
        """Map each assignment that students see to its title."""
        return {
            name: lesson.title
            for name, lesson in lessons().items()
            if self.settings.policy(name).open and notebook_path(self.root, name).is_file()
        }

    def students(self) -> dict[str, Student]:
        """Return the students of the gradebook by id; none as long as there is no gradebook."""
        return {student.id: student for student in self._read(read_students, [])}

    def due_dates(self, student: str) -> dict[str, datetime]:
        """Map each assignment to the student's due date; empty as long as there is no gradebook."""
        return self._read(read_due_dates, {}, student)

    def entry(self, student: str, assignment: str) -> GradebookEntry | None:
        """Return the gradebook's entry of a submission; None if there is no entry."""
        return self._read(read_entry, None, student, assignment)

    def entries(self) -> list[GradebookEntry]:
        """Return the gradebook's entries of the class; nothing as long as there is no gradebook."""
        return self._read(read_class, [])

    def _read(self, read: Callable[..., Any], nothing: Any, *about: str) -> Any:
        file = sqlite_file(self.gradebook)
        if file is not None and not file.is_file():
            return nothing
        return read(self.gradebook, self.course, *about)

    def shows_feedback(self, assignment: str, student: str, dues: Mapping[str, datetime] | None = None) -> bool:
        """Return True if a student may see score and feedback now; `dues` are the due dates, if they were read."""
        rule = self.settings.policy(assignment).feedback
        if rule == AFTER_DUE:
            due = (self.due_dates(student) if dues is None else dues).get(assignment)
            return due is not None and now() > due
        return rule != BY_HAND or assignment in released(self.store)

    def shows_solutions(self, assignment: str, student: str) -> bool:
        """Return True if a student sees worked solutions now: after the due date, with the student's extension.

        Without a due date, the instructor decides. Otherwise whoever solves an exercise first could pass them on.
        """
        due = self.due_dates(student).get(assignment)
        return now() > due if due is not None else assignment in solutions_shown(self.store)

    def for_student(self, page: bytes, assignment: str, student: str) -> bytes:
        """Return a feedback page as its student sees it now."""
        return page if self.shows_solutions(assignment, student) else without_solutions(page)

    def feedback_path(self, student: str, assignment: str) -> Path:
        """Return the path of the feedback page of the attempt that counts."""
        return self.folder / "feedback" / student / assignment / f"{assignment}.html"

    def feedback_page(self, entry: GradebookEntry) -> bytes:
        """Return the feedback page from the gradebook's present content, as the student may see it now.

        The file has all solutions: it is the instructor's. It is written again if a person has changed something since.
        """
        student, assignment = entry.student.id, entry.assignment
        path = self.feedback_path(student, assignment)
        if not is_current(path, entry):
            write_page(self.config, entry)
        return self.for_student(path.read_bytes(), assignment, student)


def open_site(root: Path, gradebook: str | None) -> Site:
    """Read a course's configuration, open its store and import its lessons: threads must not import them together.

    Raise RecordError if nbgrader_config.py cannot be read or this is no database URL, SecretError if the key cannot be
    used, SettingsError if serve.toml cannot.
    """
    config = read_config(root, gradebook)
    folder = config.results
    current_settings(root)
    lessons()
    key = kept_secret(folder, "serve.key").encode()  # signs links and forms; it is not the course secret
    store = Store(folder / ".grader" / "serve.db")
    return Site(root=root, folder=folder, config=config, gradebook=config.gradebook, store=store, key=key)


def released(store: Store) -> set[str]:
    """Return the assignments whose feedback an instructor has released."""
    return {row["assignment"] for row in store.rows("SELECT assignment FROM released")}


def release(store: Store, assignment: str) -> None:
    """Show students score and feedback of an assignment from now on."""
    store.change("INSERT OR IGNORE INTO released VALUES (?, ?)", assignment, text_of(now()))


def solutions_shown(store: Store) -> set[str]:
    """Return the assignments without a due date whose solutions an instructor shows to students."""
    return {row["assignment"] for row in store.rows("SELECT assignment FROM solutions_shown")}


def show_solutions(store: Store, assignment: str) -> None:
    """Show students the worked solutions of an assignment from now on."""
    store.change("INSERT OR IGNORE INTO solutions_shown VALUES (?, ?)", assignment, text_of(now()))
