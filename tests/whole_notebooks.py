"""Grades the whole notebooks of corpus/notebooks, once for each test process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from benchmarks.notebooks import graded, losses
from corpus.notebooks import WholeNotebook, whole_notebooks
from grader.sandbox.server import Server


def cases(assignment: str) -> list:
    """Return a lesson's notebooks as parameters of a test."""
    return [pytest.param(case, id=case.name) for case in whole_notebooks(assignment)]


@contextmanager
def server_and_folder() -> Iterator[tuple[Server, Path]]:
    """Start a sandbox, and make a folder for the notebooks."""
    with Server() as server, TemporaryDirectory() as folder:
        yield server, Path(folder)


def check(case: WholeNotebook, server: Server, folder: Path) -> None:
    """Fail if a right notebook loses points or is flagged, or a wrong answer is accepted."""
    assert not losses(case, graded(case, server, folder))
