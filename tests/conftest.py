"""For all tests: they run side by side, a file on one worker, so that what its tests share is made once."""

import fcntl
import gc
import os
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
import torch

from tests.halves import CASES, mark_other_cases_slow, read_case
from tests.wheels import build_wheel

# The longest begin first, so that no worker is left alone with one at the end.
MINUTES = (
    "tests/example_class",
    "tests/course/test_every_exercise",
    "tests/notebooks/test_notebooks",
    "tests/hostile",
    "tests/test_kill",
    "tests/classes/nbgrader_plugins",
    "tests/solutions/test_trained",
    "tests/course/test_devices",
    "tests/classes/gradebook",
    "tests/submission/test_faults",
    "tests/classes/workers",
    "tests/test_wrong_uses",
)

# Temporary folders of this checkout's own. As it starts, pytest closes the folder that is common to all of a user's runs to
# other users; the tests of another run that act as another user then find nothing.
OWN = Path(tempfile.gettempdir(), f"course-{sha256(__file__.encode()).hexdigest()[:6]}")
OWN.mkdir(exist_ok=True)
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(OWN))

torch.set_num_threads(1)  # two cores are all that is asked for
gc.disable()  # while everything is imported: a fifth of the time would go into finding that nothing is garbage


@pytest.fixture(scope="module", autouse=True)
def numbers_near_zero() -> None:
    """Begin each file with the numbers below 1e-38: a training in another file has switched them off for the process."""
    torch.set_flush_denormal(False)


def pytest_itemcollected(item: pytest.Item) -> None:
    mark_other_cases_slow(item)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    config.stash[CASES] = list(map(read_case, items))
    yield
    items.sort(key=lambda item: rank(item.nodeid))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def rank(test: str) -> int:
    """Return the place in MINUTES of what a test belongs to."""
    return next((place for place, name in enumerate(MINUTES) if test.startswith(name)), len(MINUTES))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built once for all workers."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # common to the workers of this run
    with (folder / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return next(folder.glob("*.whl"), None) or build_wheel(folder)
