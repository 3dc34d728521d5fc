"""One course for all tests of a file; what a test changes it changes for a student of its own, or for a course of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.serve import guard, lti_calls
from grader.serve.lti_calls import own_key
from grader.serve.site import Site
from tests.serve.people import URL, open_course
from tests.serve.school import School, open_school


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A course with students, without any submission."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADER_SECRET", "test")
        patched.setattr(guard, "REQUESTS_A_MINUTE", 100_000)  # one browser for all tests; one of them tries the limit
        yield open_course(tmp_path_factory.mktemp("serve") / "course")


@pytest.fixture(scope="module")
def school(site: Site) -> Iterator[School]:
    """A platform on which the course's place to hand in is registered, and the other way round."""
    with open_school(URL) as made:
        (site.root / "serve.toml").write_text(made.toml)
        lti_calls._keys.clear()
        made.registration.set_tool_key_set({"keys": [own_key(site.folder).as_dict(private=False)]})
        yield made
