"""Adds copies of the course's files to a wheel when hatchling builds this package.

The copies are in grader/shipped, for `grader init` and the zip for Gradescope. An editable install
gets no copies, because it reads the files in the checkout. Copies would be as old as the install.
They would also leave a folder `grader` without code in site-packages, and `import grader` would
find that folder if the checkout cannot be read.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShipFiles(BuildHookInterface):
    """Adds the files that pyproject.toml lists as `shipped` to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to `force_include`, which maps files to places in the wheel, unless the wheel is editable."""
        if version == "standard":
            build_data["force_include"].update(self.config["shipped"])
