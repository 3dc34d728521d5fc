"""Random inputs: how a trial of a probe is drawn, and how it is described to the student."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import torch
from torch import Tensor

from grader.exercise import Inputs


class Draw:
    """Random inputs from a key: the same key gives the same inputs on every machine.

    All tensors are drawn on the CPU and in float64, then rounded to the dtype that was asked for, so that a
    trial holds the same numbers on every device and in every precision.
    """

    def __init__(self, *key: str) -> None:
        digest = sha256("\x1f".join(key).encode("utf-8", "surrogatepass")).digest()
        self.generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)

    def normal(self, *shape: int, scale: float = 1.0, dtype: torch.dtype = torch.float32) -> Tensor:
        """Standard normal numbers times scale, of the given shape."""
        return (torch.randn(shape, generator=self.generator, dtype=torch.float64) * scale).to(dtype)

    def uniform(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Uniform numbers in [0, 1)."""
        return torch.rand(shape, generator=self.generator, dtype=torch.float64).to(dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """int64 in [low, high)."""
        return torch.randint(low, high, shape, generator=self.generator)

    def mask(self, *shape: int, keep: float = 0.6) -> Tensor:
        """bool, True = may attend; every row over the last axis keeps at least one and drops at least one."""
        mask = self.uniform(*shape) < keep
        kept, dropped = self.integers(0, shape[-1], *shape[:-1]), self.integers(1, shape[-1], *shape[:-1])
        mask = mask.scatter(-1, kept.unsqueeze(-1), True)
        return mask.scatter(-1, ((kept + dropped) % shape[-1]).unsqueeze(-1), False)

    def permutation(self, n: int) -> Tensor:
        """The numbers 0 … n−1 in random order."""
        return torch.randperm(n, generator=self.generator)


@dataclass(frozen=True)
class Trial:
    """One set of inputs for a probe: how it is drawn, and how it is described to the student."""

    describe: str
    draw: Callable[[Draw], Inputs]


def trials(draw: Callable[..., Inputs], *sizes: Mapping[str, Any]) -> tuple[Trial, ...]:
    """One trial for each set of sizes; `draw(draw, **sizes)` makes the inputs.

    A size named like a thing that can be counted (`queries=5`) reads "5 queries", any other "d_k = 3".
    """

    def one(size: Mapping[str, Any]) -> Trial:
        return Trial(describe(size), lambda source: draw(source, **size))

    return tuple(one(size) for size in sizes)


def describe(sizes: Mapping[str, Any]) -> str:
    """ "5 queries, 7 keys, d_k = 3" from {"queries": 5, "keys": 7, "d_k": 3}."""

    def one(name: str, value: Any) -> str:
        if name == "lead":
            return "no batch" if not value else "batch " + " × ".join(map(str, value))
        if isinstance(value, torch.dtype):
            return str(value).removeprefix("torch.")
        if isinstance(value, int) and not isinstance(value, bool) and name.isalpha() and name.endswith("s"):
            return f"{value} {name[:-1] if value == 1 else name}"
        return f"{name} = {value}"

    return ", ".join(one(name, value) for name, value in sizes.items())
