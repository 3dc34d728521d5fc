"""Random inputs from a key: the same key gives the same inputs on every machine with the same version of torch."""

from hashlib import sha256

import torch
from torch import Tensor

from grader.declare.public_numbers import Recipe, draw_numbers


class InputSampler:
    """Draws the random inputs of one trial.

    All tensors are drawn on the CPU in float64 and then rounded to the requested dtype. So a trial has the same
    numbers on every device and, apart from rounding, in every dtype.

    Args:
        key: strings that seed the generator. For hidden trials, two of them are
            the course secret and the digest of the submission.
    """

    def __init__(self, *key: str) -> None:
        digest = sha256("\x1f".join(key).encode("utf-8", "surrogatepass")).digest()
        self.generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)

    def normal(self, *shape: int, scale: float = 1.0, dtype: torch.dtype = torch.float32) -> Tensor:
        """Draw numbers from a normal distribution with mean 0 and standard deviation `scale`."""
        return (torch.randn(shape, generator=self.generator, dtype=torch.float64) * scale).to(dtype)

    def uniform(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Draw numbers from a uniform distribution over [0, 1)."""
        return torch.rand(shape, generator=self.generator, dtype=torch.float64).to(dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Draw int64 numbers from a uniform distribution over [low, high)."""
        return torch.randint(low, high, shape, generator=self.generator)

    def mask(self, *shape: int, keep: float = 0.6) -> Tensor:
        """Draw a bool mask in which a share of about `keep` of the values is True.

        Each row along the last axis contains at least one True and one False.
        """
        mask = self.uniform(*shape) < keep
        kept, dropped = self.integers(0, shape[-1], *shape[:-1]), self.integers(1, shape[-1], *shape[:-1])
        mask = mask.scatter(-1, kept.unsqueeze(-1), True)
        return mask.scatter(-1, ((kept + dropped) % shape[-1]).unsqueeze(-1), False)

    def permutation(self, n: int) -> Tensor:
        """Draw a random order of the numbers 0 … n−1, as an int64 tensor of shape (n,)."""
        return torch.randperm(n, generator=self.generator)


class PublicSampler(InputSampler):
    """Draws the random inputs of a public trial. A notebook can draw the same inputs without the declaration.

    Args:
        key: strings that seed the numbers.
    """

    def __init__(self, *key: str) -> None:
        super().__init__(*key)
        self.key = "/".join(key)
        self.drawn: list[tuple[Tensor, Recipe]] = []  # each tensor, with how it is drawn again

    def normal(self, *shape: int, scale: float = 1.0, dtype: torch.dtype = torch.float32) -> Tensor:
        return self._draw("normal", shape, scale, 0, dtype)

    def uniform(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return self._draw("uniform", shape, 0, 0, dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        return self._draw("integers", shape, low, high, torch.int64)

    def permutation(self, n: int) -> Tensor:
        return self._draw("uniform", (n,), 0, 0, torch.float64).argsort()

    def recipe_of(self, tensor: Tensor) -> Recipe | None:
        """Return the arguments with which `draw_numbers` draws a tensor again.

        Return None if this sampler did not draw the tensor.
        """
        same = (recipe for own, recipe in self.drawn if own.dtype == tensor.dtype and torch.equal(own, tensor))
        return next(same, None)

    def _draw(self, kind: str, shape: tuple[int, ...], first: float, second: float, dtype: torch.dtype) -> Tensor:
        recipe = (kind, f"{self.key}/{len(self.drawn)}", shape, first, second, str(dtype).removeprefix("torch."))
        tensor = draw_numbers(*recipe)
        self.drawn.append((tensor.clone(), recipe))
        return tensor
