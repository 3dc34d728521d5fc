"""What `nbgrader generate_feedback` calls: the feedback page, with what people decided by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import Exporter
from traitlets import default

from grader.gradebook.errors import RecordError
from grader.gradebook.reader import read_marks
from grader.paths import cache_path
from grader.report.page import feedback_page
from grader.results.cache import GradeCache


class FeedbackExporter(Exporter):
    """Makes the feedback page from the cached grade; the notebook in autograded/ is not shown."""

    output_mimetype = "text/html"

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **_: Any
    ) -> tuple[str, dict[str, Any]]:
        """Return the page of the submission that `resources` names, and `resources`; read no notebook.

        Raises:
            RecordError: the cache has no grade of the submission, or the gradebook cannot be read.
        """
        coursedir = self.parent.coursedir
        _, resources = self.from_notebook_node(nbformat.v4.new_notebook(), resources)
        submission = resources["nbgrader"]
        student, assignment = submission["student"], submission["assignment"]
        grade = GradeCache(cache_path(Path(coursedir.root))).newest(student, assignment)
        if grade is None:
            raise RecordError(
                f"{coursedir.root}/.grader/grades holds no grade of {student} for {assignment}. "
                f"Run: nbgrader autograde {assignment} --force"
            )
        marks = read_marks(submission["db_url"], coursedir.course_id, student, assignment)
        return feedback_page(grade, marks), resources
