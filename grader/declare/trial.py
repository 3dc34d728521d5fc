"""A trial: one set of inputs for a probe. It is drawn from a key, and described to the student."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch


@dataclass(frozen=True)
class Trial:
    """One set of inputs for a probe: the function that draws the inputs, and their description for the student."""

    describe: str  # "5 queries, 7 keys, d_k = 3"
    draw: Callable[[Any], Mapping[str, Any]]  # takes an InputSampler
    sizes: Mapping[str, Any] = field(default_factory=dict)  # what `draw` was given: {"queries": 5, "d_k": 3}


Sizes = Mapping[str, Any]  # of a trial, in the order in which students read them
Size: TypeAlias = int | float | bool | str | torch.dtype | tuple[Any, ...] | list[Any] | None


def sizes(**named: Size) -> Sizes:
    """Return the sizes of one trial, by name. `describe` puts them into words in this order.

    Every function that draws the trial's inputs gets the sizes as keyword arguments. `batch_shape` is a tuple with the
    sizes of the batch axes, which precede all others.
    """
    return named


def trials(draw: Callable[..., Mapping[str, Any]], *each: Sizes) -> tuple[Trial, ...]:
    """Return one trial for each set of sizes.

    Its inputs are drawn by `draw(sampler, **sizes)`, and the student reads `describe(sizes)`.
    """

    def trial(chosen: Sizes) -> Trial:
        return Trial(describe(chosen), lambda sampler: draw(sampler, **chosen), chosen)

    return tuple(trial(chosen) for chosen in each)


def describe(sizes: Sizes) -> str:
    """Return sizes in words: "5 queries, 7 keys, d_k = 3" for {"queries": 5, "keys": 7, "d_k": 3}.

    An int is described as "5 queries" or "1 query" if its name is a single word that ends in s. A batch shape is
    described as "batch 2 × 3" or "no batch", a dtype as "float64", and any other size as "d_k = 3".
    """
    return ", ".join(_describe_size(name, value) for name, value in sizes.items())


def _describe_size(name: str, value: Any) -> str:
    if name == "batch_shape":
        return "no batch" if not value else "batch " + " × ".join(map(str, value))
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, int) and not isinstance(value, bool) and name.isalpha() and name.endswith("s"):
        return f"{value} {_singular(name) if value == 1 else name}"
    return f"{name} = {value}"


def _singular(plural: str) -> str:
    """Return the singular of an English plural: "query" for "queries", "patch" for "patches", "key" for "keys"."""
    if plural.endswith("ies"):
        return plural[:-3] + "y"
    return plural[:-2] if plural.endswith("ches") else plural[:-1]
