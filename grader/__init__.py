"""The autograder: declaration → notebooks → submission → execution → evidence → verdicts → grade → reports.

The docstring of each folder states its purpose, its inputs and outputs, and the folders that it may
import; tests/test_walls.py tests the imports. Folders exchange the frozen records of `records.py`.
`paths.py` defines the paths of files, `secret.py` reads the course secret, and `cli.py` is the
command line. docs/design.md explains how all of it works together.

Authors import from here all names that a declaration needs: `from grader import CheckSpec, sizes,
written_exercise`.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from grader.sandbox.guest.library_internals import skip_iri_grammar

skip_iri_grammar()

__version__ = "0.1.0"

AUTHORING = "grader.declare.authoring"


def __getattr__(name: str) -> Any:
    """Return a name that AUTHORING exports. AUTHORING is imported with the first such name.

    The import takes seconds, and no command of the command line needs it. Editors and mypy read
    `__init__.pyi` instead.

    Raises:
        AttributeError: AUTHORING exports no such name.
    """
    is_module = find_spec(f"{__name__}.{name}") is not None  # `from grader import cli` asks here first
    if name.startswith("_") or is_module or name not in import_module(AUTHORING).__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(AUTHORING), name)
