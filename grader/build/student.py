"""Solution notebook → student notebook, by nbgrader's own generate_assignment."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import ClearSolutions
from traitlets.config import Config

from grader.notebook.cells import marked_exercises, stub
from grader.paths import tools_on_path


class NameTheTodo(ClearSolutions):
    """nbgrader's ClearSolutions, whose stub names the exercise: NotImplementedError("TODO 1.4")."""

    def preprocess_cell(self, cell, resources, cell_index):
        for exercise in marked_exercises(cell.source):
            self.code_stub = {**self.code_stub, "python": stub(exercise)}
        return super().preprocess_cell(cell, resources, cell_index)


def student_notebook(assignment: str, solution: NotebookNode) -> NotebookNode:
    """The student notebook, as `nbgrader generate_assignment` makes it.

    Runs in a folder and with a database of its own: the course's gradebook is not touched.

    Raises:
        RuntimeError: nbgrader refused; its log says why.
    """
    with tempfile.TemporaryDirectory() as folder, tools_on_path():
        source = Path(folder, "solutions", assignment)
        source.mkdir(parents=True)
        nbformat.write(solution, source / f"{assignment}.ipynb")
        config = release_config(folder)
        config.CourseDirectory.assignment_id = assignment
        converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
        converter.log.setLevel(logging.ERROR)
        converter.create_assignment = True
        converter.start()
        written = Path(folder, "notebooks", assignment, f"{assignment}.ipynb")
        if not written.is_file():
            raise RuntimeError(f"nbgrader wrote no student notebook for {assignment}")
        return nbformat.read(written, as_version=4)


def release_config(root: str) -> Config:
    """What `nbgrader_config.py` says too, for a course in another folder."""
    config = Config()
    config.CourseDirectory.root = root
    config.CourseDirectory.source_directory = "solutions"
    config.CourseDirectory.release_directory = "notebooks"
    config.CourseDirectory.db_url = f"sqlite:///{root}/gradebook.db"
    config.GenerateAssignment.preprocessors = preprocessors()
    config.Exporter.log_level = logging.ERROR
    return config


def preprocessors() -> list:
    """nbgrader's own list for generate_assignment, with our ClearSolutions in the place of its own."""
    standard = GenerateAssignment.class_traits()["preprocessors"].default_args[0]
    return [NameTheTodo if one is ClearSolutions else one for one in standard]
