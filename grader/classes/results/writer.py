"""Writes each grade into the files and the gradebook, in an order that survives a killed run.

The order is: the executed notebook, the gradebook, the feedback page. If a run is killed before it
has written the gradebook, the next run grades this one submission again. If it is killed later, the
next run writes the rest. The page is last, because it shows the gradebook's values, including the
points and comments that people gave.
"""

import os
import stat
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from nbgrader.utils import parse_utc

from grader.classes.gradebook.writer import GradeWriter, Handover, Recorded
from grader.classes.results.folders import (
    autograded_notebook,
    file_content,
    unreadable_notebook,
    write_autograded,
    write_feedback,
    write_file,
    write_timestamp,
)
from grader.classes.results.pages import is_current, page_of, with_mark_schemes
from grader.classes.workers.job import Job
from grader.course import lessons
from grader.grading.graded import Graded
from grader.records import Grade, GradebookEntry, Student
from grader.report.jsonl import to_json
from grader.submission.file import IntakeError, SubmissionFile
from grader.submission.folder_or_zip import read_file

EXCHANGE_SECRET = "submission_secret.txt"  # by which nbgrader's exchange names the page that a student fetches
MOST_SECRET = 1024  # bytes; nbgrader writes 128
MOST_BYTES = 200  # `submitted_at` reads no more than these of timestamp.txt


class ResultsWriter:
    """Writes all results of a grade: into autograded/ and feedback/ of a folder, and into the gradebook.

    Args:
        html: a folder that gets a second copy of each feedback page; None for no copy.
    """

    def __init__(self, folder: Path, html: Path | None, gradebook: GradeWriter) -> None:
        self._autograded = folder / "autograded"
        self._page_roots = [folder / "feedback", *([html] if html is not None else [])]
        self._gradebook = gradebook
        # What `recorded` returned, until `record` confirms it; by student and assignment.
        self._unconfirmed: dict[tuple[str, str], Recorded] = {}

    def recorded(self, file: SubmissionFile, key: str) -> Grade | None:
        """Return the recorded grade without checks, or None if the key or the executed notebook has changed.

        The grade is remembered until `record` is called with it.
        """
        self.forget(file)
        recorded = self._gradebook.recorded(file.student, file.assignment, key)
        if recorded is None or recorded.notebook_sha256 != file_digest(self._notebook_path(recorded.grade)):
            return None
        self._unconfirmed[file.student, file.assignment] = recorded
        return recorded.grade

    def forget(self, file: SubmissionFile) -> None:
        """Forget the grade that `recorded` has returned for a submission.

        Call it if the grade is not passed to `record`.
        """
        self._unconfirmed.pop((file.student, file.assignment), None)

    def record(self, job: Job, graded: Graded) -> bool:
        """Write one grade into files and gradebook. If `recorded` returned it, write only the missing or changed parts.

        Returns:
            True if the grade is in the gradebook. A grade for an unknown assignment is not written.

        Raises:
            StudentNameError: the student's name cannot be recorded; the next grade can be recorded.
            RecordError: a file or the gradebook cannot be written.
        """
        grade, file = graded.grade, job.file
        if grade.assignment not in lessons():
            return False
        recorded = self._unconfirmed.get((file.student, file.assignment))
        came_in = handover(file)
        if recorded is not None:
            write_timestamp(self._notebook_path(grade).parent, came_in.submitted)
            entry = self._gradebook.confirm(recorded, came_in)
        else:
            self._write_notebook(graded, came_in)
            digest = file_digest(self._notebook_path(grade))
            entry = self._gradebook.record(grade, came_in, key=job.key, notebook_sha256=digest)
        self._write_pages(entry, anew=recorded is None)
        self._keep_exchange_secret(file)
        self.forget(file)
        return True

    def line(self, graded: Graded) -> str:
        """Return the JSON line of a grade. After `record`, this also works for a grade from an earlier run."""
        grade = graded.grade
        if not graded.recorded:
            return to_json(grade)
        return self._gradebook.line(grade.student, grade.assignment) or to_json(grade)

    def _write_notebook(self, graded: Graded, came_in: Handover) -> None:
        """Write the executed notebook, or for an unreadable submission a notebook that shows the reason.

        After a grader error, the notebook of the earlier submission stays.
        """
        grade, notebook = graded.grade, graded.notebook
        if grade.status == "unreadable":
            notebook = unreadable_notebook(grade.message)
        if notebook is None or (grade.status == "fault" and self._notebook_path(grade).exists()):
            return
        if grade.status == "graded":
            with_mark_schemes(notebook, grade.assignment)
        write_autograded(self._autograded, grade.student, grade.assignment, notebook, came_in.submitted)

    def _keep_exchange_secret(self, file: SubmissionFile) -> None:
        """Copy the secret that nbgrader's exchange put next to a submission.

        `nbgrader release_feedback` needs the secret next to the results.
        """
        beside = replace(file, parts=(*file.parts[:-1], EXCHANGE_SECRET))
        with suppress(IntakeError):
            secret = b"" if file.member else read_file(beside)
            for root in (self._autograded, self._page_roots[0]) if 0 < len(secret) <= MOST_SECRET else ():
                path = root / file.student / file.assignment / EXCHANGE_SECRET
                if path.parent.is_dir() and file_content(path) != secret:
                    write_file(path, secret)

    def _write_pages(self, entry: GradebookEntry, *, anew: bool) -> None:
        """Write the feedback page into each folder in which it is missing or out of date.

        Args:
            anew: write the page into all folders.
        """
        student, assignment = entry.student.id, entry.assignment
        roots = [
            root
            for root in self._page_roots
            if anew or not is_current(root / student / assignment / f"{assignment}.html", entry)
        ]
        whole = self._gradebook.whole(student, assignment) if roots else None
        if whole is not None:
            page = page_of(whole, self._notebook_path(whole.grade))
            for root in roots:
                write_feedback(root, student, assignment, page)

    def _notebook_path(self, grade: Grade) -> Path:
        return autograded_notebook(self._autograded, grade.student, grade.assignment)


def handover(file: SubmissionFile) -> Handover:
    """Return the student and the time of a submission, as far as the file and the platform show them."""
    submitted = None if file.member else submitted_at(file.path)
    return Handover(student=student_of(file), submitted=submitted, late=file.late)


def submitted_at(notebook: Path) -> datetime | None:
    """Return the time in nbgrader's timestamp.txt next to a submitted notebook, or None without a valid time.

    A student may have written the file, so a link is not followed, and only the file's first bytes
    are read.
    """
    try:
        # O_NONBLOCK: opening a FIFO would wait for ever.
        handle = os.open(notebook.parent / "timestamp.txt", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        regular = stat.S_ISREG(os.fstat(handle).st_mode)
        text = os.read(handle, MOST_BYTES).decode("utf-8", "replace").strip() if regular else ""
    finally:
        os.close(handle)
    try:
        return parse_utc(text).replace(tzinfo=UTC) if text else None
    except (ValueError, OverflowError, TypeError):
        return None


def student_of(file: SubmissionFile) -> Student:
    """Return the student who made a submission."""
    first, _, last = file.name.rpartition(" ")
    return Student(id=file.student, first_name=first, last_name=last, lms_id=file.lms_id)


def file_digest(path: Path) -> str:
    """Return the SHA-256 digest of a file, or "" if the file cannot be read."""
    content = file_content(path)
    return "" if content is None else sha256(content).hexdigest()
