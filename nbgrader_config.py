"""nbgrader, in this repository: its command line and formgrader read this."""

import os
import sys
from pathlib import Path

from grader.build.student import preprocessors

c = get_config()  # noqa: F821  (nbgrader defines it)
root = Path(__file__).resolve().parent

# A new gradebook asks the program `alembic` for its version; it stands beside our Python, and not always on PATH.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

c.CourseDirectory.course_id = "attention"
c.CourseDirectory.root = str(root)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.db_url = f"sqlite:///{root}/gradebook.db"

# The student's stub names its exercise: NotImplementedError("TODO 1.4").
c.GenerateAssignment.preprocessors = preprocessors()

# Grading is this project's: nbgrader opens no submission and runs none.
c.Autograde.exporter_class = "grader.nbgrader_plugins.autograde.SubmissionExporter"
c.Autograde.sanitize_preprocessors = []
c.Autograde.autograde_preprocessors = [
    "grader.nbgrader_plugins.autograde.GradeSubmission",
    "grader.nbgrader_plugins.autograde.RecordGrade",
]

# Feedback is this project's page. Written anew each time: a manual grade may have come since.
c.GenerateFeedback.exporter_class = "grader.nbgrader_plugins.feedback.FeedbackExporter"
c.GenerateFeedback.preprocessors = []
c.GenerateFeedback.force = True

# downloaded/<assignment>/archive holds the zips of Canvas or Moodle.
c.ZipCollectApp.extractor_plugin = "grader.nbgrader_plugins.collect.TrustedExtractor"
c.FileNameCollectorPlugin.named_regexp = r".*/(?P<student_id>[^/]+)/(?P<file_id>[^/]+)\.ipynb"

# For students who validate their own notebook, in their own environment: training takes a while.
c.Execute.timeout = 300
