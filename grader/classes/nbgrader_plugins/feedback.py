"""Writes feedback pages with manual points and comments for `nbgrader generate_feedback`."""

from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import Exporter
from traitlets import default

from grader.classes.gradebook.errors import RecordError
from grader.classes.gradebook.reader import read_entry
from grader.classes.results.pages import page_of


class FeedbackExporter(Exporter):
    """Makes the feedback page from the gradebook, with the student's answers in the notebook in autograded/."""

    output_mimetype = "text/html"

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **_: Any
    ) -> tuple[str, dict[str, Any]]:
        """Return the feedback page of the submission that `resources` names, and `resources`.

        Args:
            filename: the executed notebook.

        Raises:
            RecordError: this grader did not grade the submission, or the gradebook cannot be read.
        """
        coursedir = self.parent.coursedir
        _, resources = self.from_notebook_node(nbformat.v4.new_notebook(), resources)
        submission = resources["nbgrader"]
        student, assignment = submission["student"], submission["assignment"]
        entry = read_entry(submission["db_url"], coursedir.course_id, student, assignment)
        if entry is None or entry.status == "recorded":
            raise RecordError(
                f"the gradebook holds nothing that this grader found of {student} for {assignment}. "
                f"Run: nbgrader autograde {assignment} --force"
            )
        return page_of(entry, Path(filename)), resources
