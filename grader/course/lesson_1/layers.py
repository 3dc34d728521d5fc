"""What the layers of 1.7 and 1.8 share: random weights, a probe of their parameters, and attention with wrong masks."""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

import torch
from attention.dot_product import scaled_scores
from torch import Tensor

from grader.course.lesson_1.shared import draw_mask
from grader.declare.authoring import Inputs, InputSampler, Value
from grader.declare.drawn import Draw, Sizes

NOWHERE = "a token that may look nowhere gets zeros"


def projections(**widths: str) -> Draw:
    """Draw a weight matrix for each name; W_Q="d_text" means that the input of W_Q is as wide as the size d_text."""

    def draw(sampler: InputSampler, sizes: Sizes) -> dict[str, Tensor]:
        dtype = sizes.get("dtype", torch.float32)
        return {
            f"{name}.weight": sampler.normal(sizes["d_k"], sizes[width], scale=1.5 / sqrt(sizes[width]), dtype=dtype)
            for name, width in widths.items()
        }

    return draw


def mask_first(draw: Callable[..., Inputs], queries: str, keys: str) -> Callable[..., Inputs]:
    """Add a mask of the kind that a trial gives to the arguments of a layer.

    It is drawn first: another order of draws would give each submission other hidden inputs than before.
    """

    def draw_all(sampler: InputSampler, *, mask: str | None = None, **sizes: Any) -> Inputs:
        batch_shape = sizes.get("batch_shape", ())
        made = {"mask": draw_mask(sampler, mask, batch_shape, sizes[queries], sizes[keys])} if mask else {}
        inputs = draw(sampler, **sizes)
        return {**inputs, "arguments": {**inputs["arguments"], **made}}

    return draw_all


def draw_layer_sizes(sampler: InputSampler, **sizes: int) -> Inputs:
    """Return the sizes of a layer as {"sizes": …}; nothing is random."""
    return {"sizes": sizes}


def layer_parameters(layer_class, sizes: Mapping) -> Mapping[str, Value]:
    """List the names and shapes of all parameters of a new layer: ["W_K.weight (3, 7)", …]."""
    named = sorted(layer_class(**sizes).named_parameters())
    return {"parameters": [f"{name} {tuple(parameter.shape)}" for name, parameter in named]}


def _hidden_by(number: float):
    """Return attention that puts a number in the place of each hidden score, and does no more."""

    def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        scores = scaled_scores(query, key)
        weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, number), -1)
        return weights @ value, weights

    return attend


# Wrong ways of `masked_attention`, for the mistakes.
HIDDEN_OTHERWISE = {"hidden_by_minus_infinity": _hidden_by(-torch.inf), "hidden_by_a_large_number": _hidden_by(-1e9)}
