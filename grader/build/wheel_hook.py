"""What hatchling runs when it builds this package: a wheel gets copies of files, and an editable install gets none.

The copies lie in grader/shipped, for `grader init` and the zip for Gradescope. An editable install finds the files in the
checkout. Copies would leave a folder `grader` without code in site-packages, which `import grader` finds where the checkout
cannot be read, and they would be those of the day of the install.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShipFiles(BuildHookInterface):
    """Adds to a wheel the files that pyproject.toml lists as `shipped`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to what `force_include` maps to places in the wheel, unless an editable wheel is built."""
        if version == "standard":
            build_data["force_include"].update(self.config["shipped"])
