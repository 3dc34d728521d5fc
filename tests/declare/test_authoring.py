"""What authors import from `grader` itself."""

import subprocess
import sys

import pytest

import grader
from grader.declare import authoring


def test_grader_exports_what_authors_need() -> None:
    assert grader.CheckSpec is authoring.CheckSpec
    assert {"CheckSpec", "Lesson", "drawn", "edits", "sizes", "written_exercise"} <= set(authoring.__all__)
    assert all(getattr(grader, name) is getattr(authoring, name) for name in authoring.__all__)


@pytest.mark.parametrize("name", ["checkspec", "torch", "annotations"])
def test_grader_exports_nothing_else(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'grader' has no attribute '{name}'"):
        getattr(grader, name)


def test_a_module_of_grader_is_imported_without_torch() -> None:
    """A command line that has nothing to compute answers at once."""
    script = "import sys\nfrom grader import complaint\nsys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
