"""nbgrader, in this repository: `nbgrader generate_assignment`, `nbgrader formgrader` and the rest read this."""

from pathlib import Path

from grader.build.student import preprocessors

c = get_config()  # noqa: F821  (nbgrader defines it)

c.CourseDirectory.course_id = "attention"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.db_url = f"sqlite:///{Path(__file__).resolve().parent}/gradebook.db"

# The student's stub names its exercise: NotImplementedError("TODO 1.4").
c.GenerateAssignment.preprocessors = preprocessors()
