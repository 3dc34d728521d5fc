"""nbgrader's configuration for this repository; its command line and formgrader read it."""

import os
import sys
from pathlib import Path

from grader.build.student import preprocessors

c = get_config()  # noqa: F821  (nbgrader defines it)
root = Path(__file__).resolve().parent

# nbgrader runs the program `alembic` for a new gradebook; it lies beside this Python, and not always on PATH.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

c.CourseDirectory.course_id = "attention"
c.CourseDirectory.root = str(root)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.db_url = f"sqlite:///{root}/gradebook.db"

# The student's stub names its exercise: NotImplementedError("TODO 1.4").
c.GenerateAssignment.preprocessors = preprocessors()

# This project grades: nbgrader opens no submission and runs none.
c.Autograde.exporter_class = "grader.nbgrader_plugins.autograde.SubmissionExporter"
c.Autograde.sanitize_preprocessors = []
c.Autograde.autograde_preprocessors = [
    "grader.nbgrader_plugins.autograde.GradeSubmission",
    "grader.nbgrader_plugins.autograde.RecordGrade",
]

# This project makes the feedback page, and writes it again each time: a person may have changed a grade since.
c.GenerateFeedback.exporter_class = "grader.nbgrader_plugins.feedback.FeedbackExporter"
c.GenerateFeedback.preprocessors = []
c.GenerateFeedback.force = True

# downloaded/<assignment>/archive holds the zips of Canvas or Moodle.
c.ZipCollectApp.extractor_plugin = "grader.nbgrader_plugins.collect.TrustedExtractor"
c.FileNameCollectorPlugin.named_regexp = r".*/(?P<student_id>[^/]+)/(?P<file_id>[^/]+)\.ipynb"

# For students who validate their notebook in their own environment: a training takes a while.
c.Execute.timeout = 300
