"""Runs when hatchling builds this package: only a wheel gets copies of the course's files.

The copies are in grader/shipped, for `grader init` and the zip for Gradescope. An editable
install reads the files in the checkout. If it got copies, they would be as old as the install.
They would also leave a folder `grader` without code in site-packages, and `import grader` would
find that folder if the checkout cannot be read.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShipFiles(BuildHookInterface):
    """Adds to a wheel the files that pyproject.toml lists as `shipped`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to what `force_include` maps to places in the wheel, unless an editable wheel is built."""
        if version == "standard":
            build_data["force_include"].update(self.config["shipped"])
