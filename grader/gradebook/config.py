"""What nbgrader_config.py says about the gradebook: the course's name, and what a late submission costs."""

from __future__ import annotations

import sys
from pathlib import Path

from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config, PyFileConfigLoader
from traitlets.config.loader import ConfigFileNotFound

from grader.gradebook.writer import LatePenalty


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
