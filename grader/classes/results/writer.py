"""Writes each grade into the files and the gradebook, in an order that survives a killed run.

The order: the executed notebook, the gradebook, the feedback page. A run that is killed before it wrote the
gradebook grades this one submission again; a run that is killed later is completed by the next run. The page
comes last, because it shows what the gradebook says: the points and comments that people gave, too.
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
    """Writes everything that belongs to a grade, into autograded/ and feedback/ of a folder and the gradebook.

    `html` is a folder that gets a second copy of each feedback page; None for no copy.
    """

    def __init__(self, folder: Path, html: Path | None, gradebook: GradeWriter) -> None:
        self._autograded = folder / "autograded"
        self._page_roots = [folder / "feedback", *([html] if html is not None else [])]
        self._gradebook = gradebook
        # What `recorded` returned, until `record` confirms it; by student and assignment.
        self._unconfirmed: dict[tuple[str, str], Recorded] = {}

    def recorded(self, file: SubmissionFile, key: str) -> Grade | None:
        """Return the recorded grade, without checks, if key and executed notebook are unchanged; else None.

        Remember it until `record` is called with the grade.
        """
        self.forget(file)
        recorded = self._gradebook.recorded(file.student, file.assignment, key)
        if recorded is None or recorded.notebook_sha256 != file_digest(self._notebook_path(recorded.grade)):
            return None
        self._unconfirmed[file.student, file.assignment] = recorded
        return recorded.grade

    def forget(self, file: SubmissionFile) -> None:
        """Remove a submission from the memory of `recorded`, because its grade was not recorded."""
        self._unconfirmed.pop((file.student, file.assignment), None)

    def record(self, job: Job, graded: Graded) -> bool:
        """Write one grade into files and gradebook. If `recorded` returned it, write only the missing or changed parts.

        Return whether it is in the gradebook: a grade for an unknown assignment is not. Raise StudentNameError if the
        student's name cannot be recorded: the next grade can be; RecordError if a file or the gradebook cannot be
        written.
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
        """Return the JSON line of a grade; after `record`, also of one that was graded by an earlier run."""
        grade = graded.grade
        if not graded.recorded:
            return to_json(grade)
        return self._gradebook.line(grade.student, grade.assignment) or to_json(grade)

    def _write_notebook(self, graded: Graded, came_in: Handover) -> None:
        """Write the executed notebook, or for an unreadable submission a notebook with the reason.

        After a fault of the grader the earlier version's notebook stays.
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
        """Copy the secret that nbgrader's exchange put next to a submission; `nbgrader release_feedback` needs it."""
        beside = replace(file, parts=(*file.parts[:-1], EXCHANGE_SECRET))
        with suppress(IntakeError):
            secret = b"" if file.member else read_file(beside)
            for root in (self._autograded, self._page_roots[0]) if 0 < len(secret) <= MOST_SECRET else ():
                path = root / file.student / file.assignment / EXCHANGE_SECRET
                if path.parent.is_dir() and file_content(path) != secret:
                    write_file(path, secret)

    def _write_pages(self, entry: GradebookEntry, *, anew: bool) -> None:
        """Write the feedback page into each folder where it is missing or out of date, or into all folders."""
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
    """Return who submitted, and when, as far as the file and the learning platform show it."""
    submitted = None if file.member else submitted_at(file.path)
    return Handover(student=student_of(file), submitted=submitted, late=file.late)


def submitted_at(notebook: Path) -> datetime | None:
    """Return the time in nbgrader's timestamp.txt next to a submitted notebook; None without a valid time.

    A student may have written the file: a link is not followed, and only the file's first bytes are read.
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
    """Return a digest of a file; "" if it cannot be read."""
    content = file_content(path)
    return "" if content is None else sha256(content).hexdigest()
