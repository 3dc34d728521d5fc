"""Random numbers that are the same on every machine.

They are computed from bytes of SHAKE-128, with arithmetic that IEEE 754 defines to the last bit.

A notebook contains a copy of this module. So it can draw the inputs of its self-checks and need not store them.
"""

from collections.abc import Sequence
from hashlib import shake_128
from math import prod, sqrt

import torch
from torch import Tensor

Recipe = tuple[str, str, tuple[int, ...], float, float, str]  # the arguments of `draw_numbers`
WORDS = 2**16


def draw_numbers(kind: str, key: str, shape: Sequence[int], first: float, second: float, dtype: str) -> Tensor:
    """Draw a tensor of random numbers.

    Args:
        kind: "normal" with mean 0 and the standard deviation `first`; "uniform"
            in [0, 1); or "integers" in [first, second).
        key: seeds the numbers.
        dtype: the name of the tensor's dtype, such as "float32".
    """
    count = prod(shape)
    if kind == "normal":  # the sum of four uniform numbers is close enough to normal
        drawn = (_words(key, count, 4).sum(-1) - 2 * (WORDS - 1)).double() / sqrt((WORDS**2 - 1) / 3) * first
    else:
        words = _words(key, count, 2)
        drawn = words[:, 0] * WORDS + words[:, 1]
        drawn = drawn.double() / WORDS**2 if kind == "uniform" else drawn % int(second - first) + int(first)
    return drawn.reshape(tuple(shape)).to(getattr(torch, dtype))


def _words(key: str, rows: int, columns: int) -> Tensor:
    """Draw integers in [0, 65536) as an int64 tensor of shape (rows, columns)."""
    digest = shake_128(key.encode("utf-8", "surrogatepass")).digest(2 * rows * columns)
    data = torch.tensor(list(digest), dtype=torch.int64).reshape(rows, columns, 2)
    return data[..., 0] * 256 + data[..., 1]
