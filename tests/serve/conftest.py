"""One course for all tests of a file; what a test changes it changes for a student of its own, or for a course of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.serve import guard
from grader.serve.site import Site
from tests.serve.people import open_course


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A course with students, without any submission."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADER_SECRET", "test")
        patched.setattr(guard, "REQUESTS_A_MINUTE", 100_000)  # one browser for all tests; one of them tries the limit
        yield open_course(tmp_path_factory.mktemp("serve") / "course")
