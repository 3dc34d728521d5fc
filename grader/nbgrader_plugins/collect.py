"""What `nbgrader zip_collect` calls: it reads zips of Canvas and Moodle as `grader grade` does."""

from __future__ import annotations

from pathlib import Path

from nbgrader.plugins import ExtractorPlugin

from grader.course import lessons
from grader.submission.archive import read_member
from grader.submission.file import Unreadable
from grader.submission.intake import find


class TrustedExtractor(ExtractorPlugin):
    """Extracts the notebooks, and nothing else, from the downloaded zips; makes one folder for each student.

    It refuses the whole zip if a member cannot be trusted, and leaves out a student with several notebooks for
    the assignment.
    """

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Write the notebooks in archive_path's zips to extracted_path/<student>/<assignment>.ipynb."""
        assignment = self.parent.coursedir.assignment_id
        for path in sorted(Path(archive_path).rglob("*.zip")):
            try:
                for file in find(path, tuple(lessons()), assignment):
                    if file.problem:
                        self.log.warning("%s: %s is left out: %s", path, file.student, file.problem)
                    else:
                        target = self._target(extracted_path, file.student, assignment)
                        target.write_bytes(read_member(file))
            except Unreadable as error:
                self.parent.fail(f"{path}: {error}")

    def _target(self, folder: str, student: str, assignment: str) -> Path:
        """Make the student's folder and return the path of its notebook; stop the run if that file exists."""
        path = Path(folder, student, f"{assignment}.ipynb")
        if path.exists():
            self.parent.fail(f"{student} is there twice for {assignment}. Remove one of the files.")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path
