"""nbgrader's configuration for this course; its command line, formgrader and `grader` read it."""

from pathlib import Path

from grader.classes.nbgrader_plugins.settings import settings

c = get_config()  # noqa: F821  (nbgrader defines it)
c.merge(settings(Path(__file__).resolve().parent))
c.CourseDirectory.course_id = "attention"
