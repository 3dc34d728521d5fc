"""Reads nbgrader_config.py: the course's name and gradebook, and the penalty for a late submission."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config, PyFileConfigLoader
from traitlets.config.loader import ConfigFileNotFound

from grader.classes.gradebook.connection import sqlite_file
from grader.classes.gradebook.errors import RecordError, has_password, shown

# Takes (student, score, seconds late), as nbgrader's plugins do; returns the penalty, or None for none.
LatePenalty = Callable[[str, float, float], float | None]


@dataclass(frozen=True)
class CourseConfig:
    """The settings of a course that grading needs. `read_config` makes this record."""

    root: Path  # the course's folder
    config: Config  # empty without such a file
    chosen: str | None = None  # the URL of another gradebook than the course's own

    @property
    def course_id(self) -> str:
        """The course's name in nbgrader_config.py, or nbgrader's default name if the file sets none."""
        return self.config.CourseDirectory.get("course_id", "default_course")

    @property
    def gradebook(self) -> str:
        """The URL of the gradebook: the one on the command line, or the course's own.

        If the course sets no URL either, this is gradebook.db in the course's folder.
        """
        return self.chosen or self._own_gradebook

    @property
    def _own_gradebook(self) -> str:
        return self.config.CourseDirectory.get("db_url") or f"sqlite:///{self.root / 'gradebook.db'}"

    @property
    def late_penalty(self) -> LatePenalty:
        """The penalty function of the late-submission plugin. nbgrader's default function subtracts nothing."""
        # nbgrader does the same, so that a plugin may lie beside nbgrader_config.py.
        if str(self.root) not in sys.path:
            sys.path.append(str(self.root))
        return penalty_plugin(self.config)

    @property
    def results(self) -> Path:
        """The folder that contains the gradebook's autograded/ and feedback/.

        For the course's own gradebook and for a database server, this is the course's folder.
        Another SQLite gradebook is another class, whose files must not be mixed with the course's
        files, so this is the folder of the gradebook's file.

        Raises:
            RecordError: the gradebook's URL is not a database URL.
        """
        file, own = sqlite_file(self.gradebook), sqlite_file(self._own_gradebook)
        if file is None or (own is not None and file.resolve() == own.resolve()):
            return self.root
        return file.parent


def penalty_plugin(config: Config) -> LatePenalty:
    """Return the penalty function of the late-submission plugin that a configuration names."""
    assign = AssignLatePenalties(config=config)
    assign.init_plugin()
    return assign.plugin_inst.late_submission_penalty


def read_config(root: Path, gradebook: str | None = None) -> CourseConfig:
    """Read the nbgrader_config.py of a course. Without that file, the configuration is empty.

    Args:
        gradebook: the URL of another gradebook, from the command line; None for the course's own.

    Raises:
        RecordError: the file fails when Python runs it, or the URL contains a password.
    """
    if gradebook and has_password(gradebook):
        raise RecordError(
            f"--gradebook {shown(gradebook)}: leave the password out. Everybody on this machine can read the command "
            "line of a process. Put the password into ~/.pgpass or into the file that PGPASSFILE names, "
            "or set PGPASSWORD."
        )
    try:
        return CourseConfig(root, PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config(), gradebook)
    except ConfigFileNotFound:
        return CourseConfig(root, Config(), gradebook)
    except Exception as error:
        path = root / "nbgrader_config.py"
        raise RecordError(f"{path} cannot be read: {type(error).__name__}: {error}. Fix this file.") from error
