"""Collects everything that the web server knows about its course in one record, and reads the gradebook for pages."""

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

    The methods that read the gradebook return empty values if it does not exist yet. They raise
    RecordError if it exists but cannot be read.
    """

    root: Path
    folder: Path  # contains submitted/, feedback/ and autograded/
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
        """Return the students in the gradebook by id, or an empty dict if there is no gradebook yet."""
        return {student.id: student for student in self._read(read_students, [])}

    def due_dates(self, student: str) -> dict[str, datetime]:
        """Map each assignment to the student's due date, or return an empty dict if there is no gradebook yet.

        Args:
            student: the id; "" for the due dates without a student's extensions.
        """
        return self._read(read_due_dates, {}, student)

    def entry(self, student: str, assignment: str) -> GradebookEntry | None:
        """Return the gradebook's record of a submission, or None if the gradebook does not contain the submission."""
        return self._read(read_entry, None, student, assignment)

    def entries(self) -> list[GradebookEntry]:
        """Return the gradebook's records of all submissions, or an empty list if there is no gradebook yet."""
        return self._read(read_class, [])

    def _read(self, read: Callable[..., Any], nothing: Any, *about: str) -> Any:
        file = sqlite_file(self.gradebook)
        if file is not None and not file.is_file():
            return nothing
        return read(self.gradebook, self.course, *about)

    def shows_feedback(self, assignment: str, student: str, dues: Mapping[str, datetime] | None = None) -> bool:
        """Return True if a student may see the score and the feedback now.

        Args:
            dues: the student's due dates if they were read already; None to read them.
        """
        rule = self.settings.policy(assignment).feedback
        if rule == AFTER_DUE:
            due = (self.due_dates(student) if dues is None else dues).get(assignment)
            return due is not None and now() > due
        return rule != BY_HAND or assignment in released(self.store)

    def shows_solutions(self, assignment: str, student: str) -> bool:
        """Return True if a student may see the worked solutions now.

        That is so after the due date, with the student's extension. Without a due date, the
        instructor decides, because the first student to solve an exercise could otherwise pass its
        solution on.
        """
        due = self.due_dates(student).get(assignment)
        return now() > due if due is not None else assignment in solutions_shown(self.store)

    def for_student(self, page: bytes, assignment: str, student: str) -> bytes:
        """Return a feedback page in the form that its student may see now, with or without worked solutions."""
        return page if self.shows_solutions(assignment, student) else without_solutions(page)

    def feedback_path(self, student: str, assignment: str) -> Path:
        """Return the path of the feedback page of the attempt that counts."""
        return self.folder / "feedback" / student / assignment / f"{assignment}.html"

    def feedback_page(self, entry: GradebookEntry) -> bytes:
        """Return the present feedback page of a submission, in the form that the student may see now.

        The file of the page is for the instructor and contains all worked solutions. The page is
        written again if the gradebook has changed since it was written, for instance by manual
        points.
        """
        student, assignment = entry.student.id, entry.assignment
        path = self.feedback_path(student, assignment)
        if not is_current(path, entry):
            write_page(self.config, entry)
        return self.for_student(path.read_bytes(), assignment, student)


def open_site(root: Path, gradebook: str | None) -> Site:
    """Read a course's configuration and lessons, open its store, and return its record.

    This function imports the lessons, because several threads must not import them at the same
    time.

    Raises:
        RecordError: nbgrader_config.py cannot be read, or `gradebook` is not a database URL.
        SecretError: the key cannot be used.
        SettingsError: serve.toml cannot be used.
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
    """Release the score and feedback of an assignment to students."""
    store.change("INSERT OR IGNORE INTO released VALUES (?, ?)", assignment, text_of(now()))


def solutions_shown(store: Store) -> set[str]:
    """Return the assignments without a due date whose solutions an instructor has released."""
    return {row["assignment"] for row in store.rows("SELECT assignment FROM solutions_shown")}


def show_solutions(store: Store, assignment: str) -> None:
    """Release the worked solutions of an assignment to students."""
    store.change("INSERT OR IGNORE INTO solutions_shown VALUES (?, ?)", assignment, text_of(now()))
