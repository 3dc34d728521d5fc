"""For all tests: they run side by side, a file on one worker, so that what its tests share is made once."""

import pytest
import torch

MINUTES = (
    "tests/classes",
    "tests/hostile",
)  # begin first, so that no worker is left alone with them at the end

torch.set_num_threads(1)  # two cores are all that is asked for


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(MINUTES))
