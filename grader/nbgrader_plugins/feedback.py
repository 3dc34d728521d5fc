"""`nbgrader generate_feedback`: our page, with what stands in the gradebook beside the grade."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbconvert.exporters import Exporter
from nbconvert.exporters.exporter import ResourcesDict
from traitlets import default

from grader.gradebook.errors import RecordError
from grader.gradebook.reader import read_marks
from grader.paths import cache_path
from grader.report.page import feedback_page
from grader.results.cache import GradeCache


class FeedbackExporter(Exporter):
    """A graded submission → its feedback page. The notebook in autograded/ is not shown."""

    output_mimetype = "text/html"

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_filename(self, filename: str, resources: ResourcesDict | None = None, **_) -> tuple[str, dict]:
        """The page.

        Raises:
            RecordError: no grade is kept for it, or the gradebook cannot be read.
        """
        coursedir = self.parent.coursedir
        student, assignment = resources["nbgrader"]["student"], resources["nbgrader"]["assignment"]
        grade = GradeCache(cache_path(Path(coursedir.root))).newest(student, assignment)
        if grade is None:
            raise RecordError(
                f"{coursedir.root}/.grader/grades holds no grade of {student} for {assignment}. "
                f"Run: nbgrader autograde {assignment} --force"
            )
        marks = read_marks(resources["nbgrader"]["db_url"], coursedir.course_id, student, assignment)
        _, resources = self.from_notebook_node(nbformat.v4.new_notebook(), resources)
        return feedback_page(grade, marks), resources
