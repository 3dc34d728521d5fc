"""Reads nbgrader_config.py: the course's name and gradebook, and the penalty for a late submission."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config, PyFileConfigLoader
from traitlets.config.loader import ConfigFileNotFound

from grader.gradebook.connection import sqlite_file
from grader.gradebook.errors import RecordError

# Takes (student, score, seconds late), as nbgrader's plugins do; returns the penalty, or None for none.
LatePenalty = Callable[[str, float, float], float | None]


def course_id(root: Path) -> str:
    """Return the course's name in nbgrader_config.py; without file or name nbgrader's default."""
    return _configuration(root).CourseDirectory.get("course_id", "default_course")


def course_gradebook(root: Path) -> str:
    """Return the URL of the course's own gradebook: nbgrader_config.py's, else gradebook.db in the course."""
    return _configuration(root).CourseDirectory.get("db_url") or f"sqlite:///{root / 'gradebook.db'}"


def results_folder(root: Path, url: str) -> Path:
    """Return the folder in which autograded/ and feedback/ of a gradebook lie.

    Those of the course's own gradebook lie in the course. Another gradebook is another class, whose files
    must not be mixed with the course's: they lie beside its file; those of a database server in the course.

    Raises:
        RecordError: this is no database URL.
    """
    file, own = sqlite_file(url), sqlite_file(course_gradebook(root))
    if file is None or (own is not None and file.resolve() == own.resolve()):
        return root
    return file.parent


def late_penalty(root: Path) -> LatePenalty:
    """Return the penalty function of the late-submission plugin that nbgrader_config.py names.

    Without a name that is nbgrader's default plugin, which takes no points off.
    """
    # nbgrader does the same, so that a plugin may lie beside nbgrader_config.py.
    if str(root) not in sys.path:
        sys.path.append(str(root))
    return penalty_plugin(_configuration(root))


def penalty_plugin(config: Config) -> LatePenalty:
    """Return the penalty function of the late-submission plugin that a configuration names."""
    assign = AssignLatePenalties(config=config)
    assign.init_plugin()
    return assign.plugin_inst.late_submission_penalty


def _configuration(root: Path) -> Config:
    """Load nbgrader_config.py; return an empty configuration without such a file.

    Raises:
        RecordError: the file, which is a program, raises an error.
    """
    try:
        return PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    except ConfigFileNotFound:
        return Config()
    except Exception as error:
        path = root / "nbgrader_config.py"
        raise RecordError(
            f"{path} cannot be read: {type(error).__name__}: {error}. Mend that file."
        ) from error
