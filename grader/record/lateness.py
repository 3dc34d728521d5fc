"""What nbgrader says beside the grade: the course's name, when a submission came in, what being late costs."""

from __future__ import annotations

import os
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc
from traitlets.config import Config, PyFileConfigLoader
from traitlets.config.loader import ConfigFileNotFound

from grader.record.gradebook import LatePenalty

LONGEST = 200  # bytes of a timestamp


def submitted_at(notebook: Path) -> datetime | None:
    """When a notebook was handed in: nbgrader's timestamp.txt beside it. None where that says nothing.

    The file may be the student's own: it is never followed to another place, and only its start is read.
    """
    try:
        # Not blocking: opening a FIFO would wait for ever.
        handle = os.open(notebook.parent / "timestamp.txt", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        regular = stat.S_ISREG(os.fstat(handle).st_mode)
        text = os.read(handle, LONGEST).decode("utf-8", "replace").strip() if regular else ""
    finally:
        os.close(handle)
    try:
        return parse_utc(text).replace(tzinfo=UTC) if text else None
    except (ValueError, OverflowError, TypeError):
        return None


def course_id(root: Path) -> str:
    """The course's name in nbgrader_config.py; nbgrader's own default without such a file."""
    return _configuration(root).CourseDirectory.get("course_id", "default_course")


def late_penalty(root: Path) -> LatePenalty:
    """The late-submission plugin that nbgrader_config.py names, or nbgrader's own, which takes nothing off."""
    if str(root) not in sys.path:  # nbgrader finds a plugin that lies beside its configuration
        sys.path.append(str(root))
    return penalty_plugin(_configuration(root))


def penalty_plugin(config: Config) -> LatePenalty:
    """The late-submission plugin of a configuration."""
    assign = AssignLatePenalties(config=config)
    assign.init_plugin()
    return assign.plugin_inst.late_submission_penalty


def _configuration(root: Path) -> Config:
    try:
        return PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    except ConfigFileNotFound:
        return Config()
