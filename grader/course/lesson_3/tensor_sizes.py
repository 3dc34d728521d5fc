"""How large the tensors are that a call makes: whether an answer really does without n × n numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def watch_sizes(call: Callable, *arguments: Any) -> tuple[Any, int]:
    """Return what a call returns, and how many numbers the largest tensor has that it makes.

    A tensor counts however it is made: a mask from torch.ones as well as scores from a product.
    """
    sizes = [0]

    class Watching(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            made = function(*args, **(kwargs or {}))
            values = made if isinstance(made, (tuple, list)) else [made]
            sizes.extend(value.numel() for value in values if isinstance(value, Tensor))
            return made

    with Watching():
        returned = call(*arguments)
    return returned, max(sizes)
