"""Makes the student notebook from the solution notebook, with nbgrader's generate_assignment."""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader import api
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearSolutions
from traitlets.config import Config

from grader.submission.cells import marked_exercises, marked_predictions, stub, without_answers, without_predictions

TEXT_STUB = "*Double-click here, and write your answer in place of this line.*"


class NameTheTodo(ClearSolutions):
    """nbgrader's ClearSolutions with our own stubs: NotImplementedError("TODO 1.4"), and a line to write over.

    It also removes our answers to questions for thought, and the author's values in predictions.
    """

    def preprocess_cell(self, cell, resources, cell_index):
        self.text_stub = TEXT_STUB
        for exercise in marked_exercises(cell.source):
            self.code_stub = {**self.code_stub, "python": stub(exercise)}
        if cell.cell_type == "markdown":
            cell.source = without_answers(cell.source)
        elif marked_predictions(cell.source):
            cell.source = without_predictions(cell.source)
        return super().preprocess_cell(cell, resources, cell_index)


def student_notebook(assignment: str, solution: NotebookNode) -> NotebookNode:
    """Return the student notebook that `nbgrader generate_assignment` makes from the solution notebook.

    nbgrader runs in a temporary folder with its own database; the course's gradebook does not
    change.

    Raises:
        RuntimeError: nbgrader writes no notebook.
    """
    with tempfile.TemporaryDirectory() as folder, unversioned_gradebook():
        source = Path(folder, "solutions", assignment)
        source.mkdir(parents=True)
        nbformat.write(solution, source / f"{assignment}.ipynb")
        config = release_config(folder)
        config.Exporter.log_level = logging.ERROR
        config.CourseDirectory.assignment_id = assignment
        converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
        converter.log.setLevel(logging.ERROR)
        converter.create_assignment = True
        converter.start()
        written = Path(folder, "notebooks", assignment, f"{assignment}.ipynb")
        if not written.is_file():
            raise RuntimeError(f"nbgrader wrote no student notebook for {assignment}")
        return nbformat.read(written, as_version=4)


@contextmanager
def unversioned_gradebook() -> Iterator[None]:
    """Let nbgrader create databases inside this context without the version of their schema.

    A temporary database does not need this version. To find it, nbgrader would start the program
    `alembic`, which costs a second of CPU time.
    """
    original, api.get_alembic_version = api.get_alembic_version, str
    try:
        yield
    finally:
        api.get_alembic_version = original


def release_config(root: str) -> Config:
    """Return nbgrader's configuration for making student notebooks, with the folders and stubs of a course."""
    config = Config()
    config.CourseDirectory.root = root
    config.CourseDirectory.source_directory = "solutions"
    config.CourseDirectory.release_directory = "notebooks"
    config.CourseDirectory.db_url = f"sqlite:///{root}/gradebook.db"
    # The student's stub names its exercise: NotImplementedError("TODO 1.4").
    standard = GenerateAssignment.class_traits()["preprocessors"].default_args[0]
    config.GenerateAssignment.preprocessors = [NameTheTodo if one is ClearSolutions else one for one in standard]
    return config
