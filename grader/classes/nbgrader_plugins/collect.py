"""Reads the zips of learning platforms for `nbgrader zip_collect`, as `grader grade` does."""

from contextlib import chdir
from pathlib import Path

from nbgrader.plugins import ExtractorPlugin

from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.writer import add_students
from grader.classes.results.writer import student_of
from grader.course import assignment_by_exercise, lessons
from grader.submission.file import IntakeError, SubmissionFile
from grader.submission.folder_or_zip import read_member
from grader.submission.intake import find


class TrustedExtractor(ExtractorPlugin):
    """Extracts only the notebooks from the downloaded zips, into one folder for each student.

    It refuses the whole zip if a member cannot be trusted. If a student's notebook is damaged or
    missing, or is in the zip twice, it names the student, and collects the others.
    """

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Write the notebooks in the zips below archive_path to extracted_path/<student>/<assignment>.ipynb."""
        assignment = self.parent.coursedir.assignment_id
        # Of nbgrader's commands this one alone does not go to the course's folder.
        with chdir(self.parent.coursedir.root):
            known, exercises = tuple(lessons()), assignment_by_exercise()
        by_student: dict[str, list[SubmissionFile]] = {}
        for path in sorted(Path(archive_path).rglob("*.zip")):
            try:
                for file in find(path, known, assignment, exercises):
                    by_student.setdefault(file.student, []).append(file)
            except IntakeError as error:
                self.parent.fail(f"{path}: {error}")
        for student, files in by_student.items():
            if len(files) > 1:
                places = " and ".join(file.place for file in files)
                self._leave_out(student, f"{student} is there twice: {places}. Remove one of the files.")
            else:
                self._extract(files[0], Path(extracted_path, student, f"{assignment}.ipynb"))
        # The folders in submitted/ tell no names, and not that their names are the platform's own numbers.
        coursedir = self.parent.coursedir
        students = [student_of(files[0]) for files in by_student.values()]
        try:
            add_students(coursedir.db_url, coursedir.course_id, students)
        except RecordError as error:
            self.log.error("names and numbers of the students are not in the gradebook: %s", error)

    def _extract(self, file: SubmissionFile, target: Path) -> None:
        """Write one student's notebook, or name the student if the notebook cannot be read."""
        if file.problem:
            self._leave_out(file.student, f"{file.place}: {file.problem.message}")
            return
        try:
            content = read_member(file)
        except IntakeError as error:
            self._leave_out(file.student, f"{file.place}: {error}")
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    def _leave_out(self, student: str, reason: str) -> None:
        self.log.error("%s is left out. %s", student, reason)
