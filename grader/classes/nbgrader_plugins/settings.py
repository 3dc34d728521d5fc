"""The settings that nbgrader needs for a course of this grader.

The course's `nbgrader_config.py` adds the settings that an instructor chooses.
"""

import os
import sys
from pathlib import Path

from traitlets.config import Config

from grader.build.student import release_config


def settings(root: Path) -> Config:
    """Return nbgrader's configuration for a course: its folders, and the plugins that grade and make pages.

    Also put the folder of this Python on the process's PATH, because nbgrader runs the program
    `alembic` from that folder.
    """
    # nbgrader runs the program `alembic` for a new gradebook; it lies beside this Python, and not always on PATH.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

    c = release_config(str(root))
    c.CourseDirectory.submitted_directory = "submitted"

    # This project grades: nbgrader opens no submission and runs none.
    c.Autograde.exporter_class = "grader.classes.nbgrader_plugins.autograde.SubmissionExporter"
    c.Autograde.sanitize_preprocessors = []
    c.Autograde.autograde_preprocessors = ["grader.classes.nbgrader_plugins.autograde.GradeSubmission"]

    # This project makes the feedback page, and writes it again each time: a person may have changed a grade since.
    c.GenerateFeedback.exporter_class = "grader.classes.nbgrader_plugins.feedback.FeedbackExporter"
    c.GenerateFeedback.preprocessors = []
    c.GenerateFeedback.force = True

    # downloaded/<assignment>/archive holds the zips of a learning platform.
    c.ZipCollectApp.extractor_plugin = "grader.classes.nbgrader_plugins.collect.TrustedExtractor"
    c.FileNameCollectorPlugin.named_regexp = r".*/(?P<student_id>[^/]+)/(?P<file_id>[^/]+)\.ipynb"

    # For students who validate their notebook in their own environment: a training takes a while.
    c.Execute.timeout = 300
    return c
