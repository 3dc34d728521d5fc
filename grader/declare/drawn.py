"""Draws inputs from their shapes: `drawn(query="* queries d_k", key="* keys d_k")` returns a function that draws both.

A shape is a string. In it, `*` stands for the trial's batch shape, and a name for one of the
trial's sizes, which may be a shape itself. A number stands for itself, and `heads·d_head` is a
product. An input that is declared by such a string is drawn from the normal distribution.

A draw is a function of a sampler and the trial's sizes that returns a value. Most functions below
return a draw, and an author can write others. Values are drawn, and passed to the probe, in the
order in which they are declared.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from grader.declare.errors import DeclarationError
from grader.declare.layer_weights import build_quietly, draw_layer_weights
from grader.declare.sampler import InputSampler
from grader.declare.trial import Sizes
from grader.records import Inputs

Draw = Callable[[InputSampler, Sizes], Any]

LEFT_OUT = object()  # a value that a trial does without


def drawn(**values: str | Draw) -> Callable[..., Inputs]:
    """Return draw(sampler, **sizes), which draws a value for each keyword and returns the values in a dict.

    Raises:
        DeclarationError: when the returned function runs and no value uses one of the sizes.
    """
    return _all_used(drawn_part(**values))


def drawn_layer(
    weights: Callable[..., nn.Module] | Draw, sizes: Mapping[str, str | Draw], **arguments: str | Draw
) -> Callable[..., Inputs]:
    """Return draw(sampler, **sizes) for a layer. Its dict has the keys "sizes", "weights" and "arguments".

    `StandardChecks` expects these three keys.

    Args:
        weights: the reference class, all of whose parameters are then drawn; or a draw of the weights by name.
        sizes: parameter of the class → the trial's size, as in {"d_model": "d_model",
            "num_heads": "heads"}. A size may be a product.
        arguments: shapes or draws for the arguments of the layer's call.
    """
    made = weights_of(weights, sizes) if inspect.isclass(weights) else weights
    return drawn(sizes=chosen(sizes), weights=made, arguments=drawn_part(**arguments))


def and_more(draw: Callable[..., Inputs], **values: str | Draw) -> Callable[..., Inputs]:
    """Return a function that draws the values of `draw`, and then further values with the same sizes.

    All values are in one dict.
    """
    further = drawn_part(**values)
    return lambda sampler, **sizes: {**draw(sampler, **sizes), **further(sampler, sizes)}


def _all_used(draw: Draw) -> Callable[..., Inputs]:
    """Wrap a draw so that it raises DeclarationError if the trial has a size that the draw does not use.

    Such a size may be misspelt. The sizes batch_shape and dtype may be unused.
    """

    def draw_all(sampler: InputSampler, **sizes: Any) -> Inputs:
        seen = _Seen(sizes)
        inputs = draw(sampler, seen)
        if unused := sizes.keys() - seen.names - {"batch_shape", "dtype"}:
            raise DeclarationError(f"no input uses the size {', '.join(sorted(unused))}")
        return inputs

    return draw_all


class _Seen(Mapping[str, Any]):
    """The sizes of a trial. `names` records which of them were looked up."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes, self.names = sizes, set[str]()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return self._sizes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)


def drawn_part(**values: str | Draw) -> Draw:
    """Return a draw of a dict with a value for each keyword, in the same order.

    The dict can be a single value of `drawn`. Values that are LEFT_OUT are not in the dict.
    """
    draws = {name: normal(value) if isinstance(value, str) else value for name, value in values.items()}

    def draw(sampler: InputSampler, sizes: Sizes) -> dict[str, Any]:
        made = {name: one(sampler, sizes) for name, one in draws.items()}
        return {name: value for name, value in made.items() if value is not LEFT_OUT}

    return draw


def chosen(sizes: Mapping[str, str | Draw]) -> Draw:
    """Return a draw of a dict that contains the trial's sizes under other names. Nothing in it is random.

    An example is {"num_heads": "heads"}.
    """
    return drawn_part(**{name: given(size) if isinstance(size, str) else size for name, size in sizes.items()})


def weights_of(layer: Callable[..., nn.Module], sizes: Mapping[str, str | Draw]) -> Draw:
    """Return a draw of every parameter of a layer, by name.

    Args:
        layer: the class of the layer, or a function that returns the layer.
        sizes: the arguments of `layer`, as in `drawn_layer`.
    """
    choose = chosen(sizes)

    def draw(sampler: InputSampler, given: Sizes) -> dict[str, Any]:
        made = build_quietly(layer, **choose(sampler, given))
        return draw_layer_weights(sampler, made, given.get("dtype", torch.float32))

    return draw


def normal(shape: str, *, scale: float | str = 1.0, dtype: torch.dtype | None = None) -> Draw:
    """Return a draw of normally distributed numbers with mean 0.

    Args:
        scale: the standard deviation, or the name of a size that contains it (1 if a trial lacks this size).
        dtype: the dtype of the tensor; None for the trial's dtype, which is float32 unless the sizes set another.
    """

    def draw(sampler: InputSampler, sizes: Sizes) -> Any:
        spread = sizes.get(scale, 1.0) if isinstance(scale, str) else scale
        return sampler.normal(*shape_of(shape, sizes), scale=spread, dtype=dtype or sizes.get("dtype", torch.float32))

    return draw


def integers(low: int, high: int | str, shape: str) -> Draw:
    """Return a draw of int64 numbers in [low, high).

    Args:
        high: a number, or the name of a size.
    """

    def draw(sampler: InputSampler, sizes: Sizes) -> Any:
        return sampler.integers(low, size_of(high, sizes) if isinstance(high, str) else high, *shape_of(shape, sizes))

    return draw


def mask(shape: str, *, keep: float = 0.6) -> Draw:
    """Return a draw of a bool mask in which a share of about `keep` of the values is True.

    Each row along the last axis contains at least one True and one False.
    """
    return lambda sampler, sizes: sampler.mask(*shape_of(shape, sizes), keep=keep)


def then(value: str | Draw, change: Callable[[Any], Any]) -> Draw:
    """Return a draw that draws a value and applies `change` to it.

    In `(x > 0.8) * 1.0`, the Python number turns the mask into float32. So a float32 result gets the trial's dtype,
    which is float64 for a function of NumPy arrays.
    """
    draw = normal(value) if isinstance(value, str) else value

    def draw_changed(sampler: InputSampler, sizes: Sizes) -> Any:
        made = change(draw(sampler, sizes))
        is_usual = isinstance(made, Tensor) and made.dtype == torch.float32
        return made.to(sizes.get("dtype", torch.float32)) if is_usual else made

    return draw_changed


def given(name: str, *default: Any) -> Draw:
    """Return a draw that returns one of the trial's sizes, or a product of sizes. Nothing in it is random.

    Args:
        default: the value if the trial lacks the size. Without a default, the
            draw then raises DeclarationError.
    """
    return lambda sampler, sizes: sizes.get(name, *default) if default else size_of(name, sizes)


def where_given(name: str, value: str | Draw) -> Draw:
    """Return a draw that draws a value only in trials that have the size `name`, and that do not set it to None.

    In all other trials the value is left out.
    """
    draw = normal(value) if isinstance(value, str) else value
    return lambda sampler, sizes: LEFT_OUT if sizes.get(name) is None else draw(sampler, sizes)


def shape_of(text: str, sizes: Sizes) -> tuple[int, ...]:
    """Return a shape as a tuple of numbers.

    "* tokens heads·d_head" is (2, 5, 6) if batch_shape = (2,), tokens = 5, heads = 3 and d_head = 2.
    """
    shape: list[int] = []
    for axis in text.split():
        size = sizes.get("batch_shape", ()) if axis == "*" else size_of(axis, sizes)
        shape += size if isinstance(size, tuple) else [size]
    return tuple(shape)


def size_of(text: str, sizes: Sizes) -> Any:
    """Return the value of a size, of a number, or of a product of sizes and numbers, as in "heads·d_head".

    Raises:
        DeclarationError: the trial lacks one of the sizes.
    """
    factors = text.split("·")
    if missing := [name for name in factors if not name.isdigit() and name not in sizes]:
        said = f"a trial lacks the size {missing[0]!r}; it gives {', '.join(sizes) or 'none'}"
        raise DeclarationError(f"{said}. Give each size in each trial, as in dict({missing[0]}=3)")
    values = [int(name) if name.isdigit() else sizes[name] for name in factors]
    return values[0] if len(values) == 1 else prod(values)
