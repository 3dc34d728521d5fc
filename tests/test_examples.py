"""The example class is what its scripts make."""

from examples.make import classes, content


def test_every_example_is_there_as_it_is_made() -> None:
    stale = [one.path for one in classes() if not one.path.is_file() or one.path.read_bytes() != content(one)]
    assert stale == [], "run: make examples"
