"""A trial: one set of inputs for a probe, drawn from a key, and how it is described to the student."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch


@dataclass(frozen=True)
class Trial:
    """One set of inputs for a probe: how it is drawn, and how it is described to the student."""

    describe: str  # "5 queries, 7 keys, d_k = 3"
    draw: Callable[[Any], Mapping[str, Any]]  # takes an InputSampler
    sizes: Mapping[str, Any] = field(default_factory=dict)  # what `draw` was given: {"queries": 5, "d_k": 3}


Sizes = Mapping[str, Any]  # of a trial, in the order in which students read them
Size: TypeAlias = int | float | bool | str | torch.dtype | tuple[Any, ...] | list[Any] | None


def sizes(**named: Size) -> Sizes:
    """Return the sizes of one trial, by name; `describe` puts them into words in this order.

    Every function that draws the trial's inputs gets them as keywords. `batch_shape` are the axes in front.
    """
    return named


def trials(draw: Callable[..., Mapping[str, Any]], *each: Sizes) -> tuple[Trial, ...]:
    """Make one trial for each set of sizes.

    The trial draws `draw(sampler, **sizes)`, and the student reads `describe(sizes)`.
    """

    def trial(chosen: Sizes) -> Trial:
        return Trial(describe(chosen), lambda sampler: draw(sampler, **chosen), chosen)

    return tuple(trial(chosen) for chosen in each)


def describe(sizes: Sizes) -> str:
    """Put sizes into words: "5 queries, 7 keys, d_k = 3" from {"queries": 5, "keys": 7, "d_k": 3}.

    An int whose name is one word in s reads "5 queries" or "1 query", a batch shape "batch 2 × 3", a dtype
    "float64", all else "d_k = 3".
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
    """Return the singular: "query" of "queries", "patch" of "patches", "key" of "keys"."""
    if plural.endswith("ies"):
        return plural[:-3] + "y"
    return plural[:-2] if plural.endswith("ches") else plural[:-1]
