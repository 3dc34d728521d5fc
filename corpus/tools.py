"""What tests and benchmarks of nbgrader's own commands need."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def tools_on_path() -> Iterator[None]:
    """Put the folder of this Python on PATH for a while: nbgrader runs `alembic`, which is in it."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before
