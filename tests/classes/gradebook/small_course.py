"""A course in a folder of its own, with cheap submissions: for tests that run the real commands on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from contextlib import chdir
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from examples.make import ROOT
from grader.cli import app
from grader.submission.cells import Role, answer_cell, exercise_of, role
from tests.classes.gradebook.warm_server import warm_server
from tests.warm_python import run_python

NAME = "1-attention"
COURSE = "attention"  # as nbgrader_config.py calls it; with another name nbgrader would add a course
NBGRADER_COMMANDS = ROOT / "tests" / "classes" / "nbgrader_plugins" / "nbgrader_commands.py"


@dataclass(frozen=True)
class SmallCourse:
    """A copy of the course, with submissions of lesson 1 and a gradebook of its own."""

    root: Path

    @classmethod
    def make(cls, root: Path, alter: Callable[[NotebookNode], None] | None = None) -> SmallCourse:
        """Make the folder; `alter` changes lesson 1 and its solution, as an instructor may."""
        for folder in ("solutions", "notebooks"):
            shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("*.py"))
            if alter is not None:
                path = root / folder / NAME / f"{NAME}.ipynb"
                notebook = nbformat.read(path, as_version=4)
                alter(notebook)
                nbformat.write(notebook, path)
        shutil.copy(ROOT / "nbgrader_config.py", root)
        return cls(root)

    def copy(self, root: Path) -> SmallCourse:
        """Copy the course as it is, graded submissions and all, for a test that changes it."""
        shutil.copytree(self.root, root)
        return SmallCourse(root)

    @property
    def file(self) -> Path:
        """The course's own gradebook."""
        return self.root / "gradebook.db"

    @property
    def url(self) -> str:
        """The URL of the course's own gradebook."""
        return f"sqlite:///{self.file}"

    @property
    def environment(self) -> dict[str, str]:
        sources = os.pathsep.join([str(ROOT), str(ROOT / "source")])  # these, whichever are installed
        own = {"GRADER_SECRET": "test", "GRADER_COURSE": str(self.root), "PYTHONPATH": sources}
        return {**os.environ, **own}

    def configure(self, lines: str) -> None:
        """Add lines to nbgrader_config.py."""
        with (self.root / "nbgrader_config.py").open("a", encoding="utf-8") as file:
            file.write(f"\n{lines}\n")

    def submit(
        self,
        student: str,
        *solved: str,
        remark: str = "",
        at: datetime | None = None,
        to: str = "submitted",
        written: Mapping[str, str] | None = None,
    ) -> Path:
        """Hand in the student notebook.

        Args:
            solved: the exercises that are solved; few, because then nothing is trained.
            remark: what makes other bytes of the same answers.
            at: when; without it there is no timestamp.txt.
            to: the folder with the submissions.
            written: the text of other cells, by their ids.
        """
        notebook = nbformat.read(self.root / "notebooks" / NAME / f"{NAME}.ipynb", as_version=4)
        cells = {cell.id: cell for cell in notebook.cells}
        for exercise in solved:
            cells[answer_cell(exercise)].source = answers()[exercise]
        for id, text in (written or {}).items():
            cells[id].source = text
        if remark:
            notebook.cells.append(nbformat.v4.new_code_cell(f"# {remark}", id="remark"))
        folder = self.root / to / student / NAME
        folder.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, folder / f"{NAME}.ipynb")
        if at is not None:
            (folder / "timestamp.txt").write_text(f"{at:%Y-%m-%d %H:%M:%S} UTC")
        return folder / f"{NAME}.ipynb"

    def grade(self, *arguments: str, status: int = 0) -> str:
        """Run `grader grade submitted`, or with other arguments; return what it printed."""
        return self.grader("grade", *(arguments or ("submitted",)), status=status)

    def grader(self, *arguments: str, status: int = 0) -> str:
        """Run a command of ours in this process: to start Python and import torch takes longer than most."""
        with chdir(self.root), warm_server():
            ran = CliRunner().invoke(app, list(arguments), env=self.environment)
        assert ran.exit_code == status, (arguments, ran.output, ran.exception)
        return ran.output

    def nbgrader(self, *commands: tuple[str, ...], status: int = 0) -> str:
        """Run nbgrader's command lines, all in one process."""
        told = json.dumps([(str(self.root), command) for command in commands])
        ran = run_python(str(NBGRADER_COMMANDS), folder=self.root, environment=self.environment, told=told, strict=True)
        assert ran.returncode == status, ran.output
        return ran.output

    def run(self, *command: str, status: int = 0) -> str:
        """Run a program in the course's folder; return what it printed."""
        ran = subprocess.run(
            command, cwd=self.root, env=self.environment, capture_output=True, text=True, check=False, timeout=1200
        )
        assert ran.returncode == status, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    def page(self, student: str, results: Path | None = None) -> str:
        """Return a student's feedback page, from the course's folder or from another one with results."""
        return ((results or self.root) / "feedback" / student / NAME / f"{NAME}.html").read_text("utf-8")


@cache
def answers() -> dict[str, str]:
    """Return the answer to each exercise, as the solution has it."""
    notebook = nbformat.read(ROOT / "solutions" / NAME / f"{NAME}.ipynb", as_version=4)
    return {exercise_of(cell.id): cell.source for cell in notebook.cells if role(cell.id) is Role.ANSWER}


# ---------------------------------------------------------------- what nbgrader has of it


@dataclass(frozen=True)
class Cell:
    """One graded cell of a submission, as nbgrader stores it."""

    auto: float | None
    manual: float | None
    extra: float | None
    score: float
    needs_manual_grade: bool


def cells(url: str, students: Iterable[str] | None = None) -> dict[tuple[str, str], Cell]:
    """Read all graded cells from the gradebook: by student and cell."""
    with Gradebook(url, COURSE) as gradebook:
        return {
            (submission.student_id, grade.name): Cell(
                grade.auto_score, grade.manual_score, grade.extra_credit, grade.score, grade.needs_manual_grade
            )
            for submission in gradebook.assignment_submissions(NAME)
            if students is None or submission.student_id in students
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def comments(url: str) -> dict[tuple[str, str], str]:
    """Read what people wrote from the gradebook: by student and cell."""
    with Gradebook(url, COURSE) as gradebook:
        return {
            (submission.student_id, comment.name): comment.manual_comment
            for submission in gradebook.assignment_submissions(NAME)
            for notebook in submission.notebooks
            for comment in notebook.comments
            if comment.manual_comment
        }
