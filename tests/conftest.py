"""For all tests: they run side by side, a file on one worker, so that what its tests share is made once."""

import pytest
import torch

# The longest begin first, so that no worker is left alone with one at the end.
MINUTES = (
    "tests/classes",
    "tests/course/test_every_exercise",
    "tests/notebooks/test_notebooks",
    "tests/hostile",
    "tests/test_kill",
    "tests/nbgrader_plugins",
    "tests/solutions/test_trained",
    "tests/course/test_devices",
    "tests/gradebook",
    "tests/submission/test_faults",
    "tests/workers",
    "tests/test_wrong_uses",
)

torch.set_num_threads(1)  # two cores are all that is asked for


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: rank(item.nodeid))


def rank(test: str) -> int:
    """Return the place in MINUTES of what a test belongs to."""
    return next((place for place, name in enumerate(MINUTES) if test.startswith(name)), len(MINUTES))
