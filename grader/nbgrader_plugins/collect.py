"""`nbgrader zip_collect`: zips of Canvas and Moodle, read as `grader grade` reads them."""

from __future__ import annotations

from pathlib import Path

from nbgrader.plugins import ExtractorPlugin

from grader.course import lessons
from grader.submission.archive import read_member
from grader.submission.file import Unreadable
from grader.submission.intake import find


class TrustedExtractor(ExtractorPlugin):
    """Takes the notebooks out of the zips as they were downloaded, and nothing else; one folder for each student.

    A zip that cannot be trusted is refused whole; a student with several notebooks that may count is left out.
    """

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Fill extracted_path with <student>/<assignment>.ipynb."""
        assignment = self.parent.coursedir.assignment_id
        for path in sorted(Path(archive_path).rglob("*.zip")):
            try:
                for found in find(path, tuple(lessons()), assignment):
                    if found.problem:
                        self.log.warning("%s: %s is left out: %s", path, found.student, found.problem)
                    else:
                        self._put(extracted_path, found.student, assignment).write_bytes(read_member(found))
            except Unreadable as error:
                self.parent.fail(f"{path}: {error}")

    def _put(self, folder: str, student: str, assignment: str) -> Path:
        path = Path(folder, student, f"{assignment}.ipynb")
        if path.exists():
            self.parent.fail(f"{student} is there twice for {assignment}. Remove one of the files.")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path
