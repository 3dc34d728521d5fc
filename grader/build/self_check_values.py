"""Converts values to JSON without any loss: nested values, tensors with dtype and shape, and results of wrong answers.

The builder writes them into the notebook, and the notebook reads them with its own copy of this
module.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.declare.public_numbers import Recipe, draw_numbers
from grader.explain.fingerprint import Fingerprint, alike

TENSOR, DRAWN = "tensor", "drawn"  # the keys of a tensor's JSON object: its numbers, or how they are drawn
RIGHT = 0  # what a wrong answer returns on a trial that it gets right


def as_json(value: Any, recipe_of: Callable[[Tensor], Recipe | None] = lambda tensor: None) -> Any:
    """Return a nested value as JSON. Tuples become lists.

    Args:
        recipe_of: returns the recipe by which a tensor can be drawn again, or None if there is no
            recipe. Only the recipe of such a tensor is written.

    Raises:
        ValueError: a mapping has a key that marks a tensor.
    """
    if isinstance(value, Tensor) and (recipe := recipe_of(value)):
        return {DRAWN: list(recipe)}
    if isinstance(value, Tensor):
        return {TENSOR: [str(value.dtype).removeprefix("torch."), list(value.shape), _numbers(value)]}
    if isinstance(value, Mapping):
        if value.keys() & {TENSOR, DRAWN}:
            raise ValueError(f"a value must not have a key {TENSOR!r} or {DRAWN!r}: {sorted(value)}")
        return {name: as_json(inner, recipe_of) for name, inner in value.items()}
    return [as_json(inner, recipe_of) for inner in value] if isinstance(value, (list, tuple)) else value


def from_json(packed: Any) -> Any:
    """Return the value that `as_json` has written."""
    if isinstance(packed, Mapping) and TENSOR in packed:
        dtype, shape, numbers = packed[TENSOR]
        return torch.tensor(numbers, dtype=getattr(torch, dtype)).reshape(shape)
    if isinstance(packed, Mapping) and DRAWN in packed:
        return draw_numbers(*packed[DRAWN])
    if isinstance(packed, Mapping):
        return {name: from_json(inner) for name, inner in packed.items()}
    return [from_json(inner) for inner in packed] if isinstance(packed, list) else packed


def prints_as_json(prints: Sequence[Fingerprint | None], right: Sequence[Fingerprint]) -> list[Any]:
    """Return the results of a wrong answer on each trial, as JSON.

    A result is None if it is not known, RIGHT if it is right, or else a list with the form and the
    numbers of its fingerprint. Six digits of a number are enough, because fingerprints are alike if
    four digits agree.
    """
    return [
        own and (RIGHT if alike(own, want) else [own.form, *(float(f"{number:.6g}") for number in own.numbers)])
        for own, want in zip(prints, right, strict=True)
    ]


def prints_from_json(gives: Sequence[Any], right: Sequence[Fingerprint]) -> list[Fingerprint | None]:
    """Return the fingerprints that `prints_as_json` has written.

    Args:
        right: the fingerprints of the right answer, one for each trial.
    """
    return [
        want if numbers == RIGHT else numbers and Fingerprint(numbers[0], tuple(numbers[1:]))
        for numbers, want in zip(gives, right, strict=True)
    ]


def _numbers(leaf: Tensor) -> list[Any]:
    """Return the numbers of a tensor as a list.

    A float32 number has only the few digits that identify it: 0.1, not 0.10000000149.
    """
    flat = leaf.detach().flatten()
    return [float(str(number)) for number in flat.numpy()] if leaf.dtype == torch.float32 else flat.tolist()
