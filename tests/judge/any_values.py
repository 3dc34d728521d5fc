"""Strategies for what a submission may send back: any tree of tensors and JSON values, and right results changed in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from grader.records import Value
from grader.sandbox.guest.codec import DTYPES

Place = tuple[str | int, ...]
dtypes = st.sampled_from(list(DTYPES.values()))
factors = st.sampled_from([1.0, 0.5, -1.0, float("nan"), float("inf")])


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    """Draw a small tensor of any dtype and shape, empty ones too."""
    shape = draw(st.lists(st.integers(0, 4), max_size=5))
    tensor = torch.full(shape, draw(st.integers(-3, 300))).to(draw(dtypes))
    return tensor * draw(factors) if tensor.is_floating_point() else tensor


numbers = st.sampled_from([0.0, -2.5, 1e300, float("nan"), float("-inf")])
leaves = st.one_of(tensors(), st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), numbers, st.text(max_size=5))
trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


@st.composite
def like(draw: st.DrawFn, tensor: Tensor) -> Value:
    """Draw what looks like a tensor, and is of another shape, dtype or form."""
    flip = ~tensor if tensor.dtype == torch.bool else -tensor.to(tensor.dtype)
    empty = tensor[..., :0] if tensor.ndim else tensor.new_empty(0)
    forms = (tensor.to(draw(dtypes)), tensor.unsqueeze(0), tensor.flatten(), tensor.tolist(), tensor.sum(), flip, empty)
    return forms[draw(st.integers(0, len(forms) - 1))]


@st.composite
def changed(draw: st.DrawFn, values: Mapping[str, Value]) -> Mapping[str, Value]:
    """Draw a result that is right but for one or two places: each has another value, or is left out."""
    result: Any = dict(values)
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.sampled_from([place for place in places(result) if place] or [()]))
        old = at(result, place)
        if draw(st.integers(0, 4)) == 0 and place:
            parent = at(result, place[:-1])
            left = (
                {name: item for name, item in parent.items() if name != place[-1]}
                if isinstance(parent, Mapping)
                else [*parent[: place[-1]], *parent[place[-1] + 1 :]]
            )
            result = put(result, place[:-1], left)
        else:
            new = like(old) if isinstance(old, Tensor) and draw(st.booleans()) else trees
            result = put(result, place, draw(new))
    return result if isinstance(result, Mapping) else {}


def places(value: Value, above: Place = ()) -> Iterator[Place]:
    """Yield where the parts of a tree are, the tree itself first."""
    yield above
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from places(item, (*above, name))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from places(item, (*above, index))


def at(value: Any, place: Place) -> Any:
    """Return the part at a place."""
    for step in place:
        value = value[step]
    return value


def put(value: Any, place: Place, new: Any) -> Any:
    """Return a copy of a tree with another part at a place."""
    if not place:
        return new
    if isinstance(value, Mapping):
        return {**value, place[0]: put(value[place[0]], place[1:], new)}
    items = list(value)
    items[place[0]] = put(items[place[0]], place[1:], new)
    return items
