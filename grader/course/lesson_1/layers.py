"""What the layers of 1.7 and 1.8 share: random weights, a probe of their parameters, and attention with wrong masks."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import torch
from attention.dot_product import scaled_scores
from torch import Tensor

from grader.course.lesson_1.shared import attend
from grader.declaration.sampler import InputSampler
from grader.records import Inputs, Value

NOWHERE = "a token that may look nowhere gets zeros"
LAYER_CONDUCT = "gradients reach every parameter, float64 stays float64, inputs stay as they are"
NAN_HINT = "A token that may look nowhere gets NaN: 0 divided by 0, or the softmax of a row of −inf. Your masked_attention of 1.6 gives zeros there."
EVEN_HINT = (
    "A token that may look nowhere looks everywhere: hidden scores are a large negative number, all the same. "
    "Your masked_attention of 1.6 gives zeros there."
)


def draw_projections(sampler: InputSampler, d_k: int, dtype: torch.dtype, **widths: int) -> dict[str, Tensor]:
    """Draw a weight matrix for each name in `widths`; W_Q=8 means that the input of W_Q is 8 wide."""
    return {
        f"{name}.weight": sampler.normal(d_k, width, scale=1.5 / sqrt(width), dtype=dtype)
        for name, width in widths.items()
    }


def draw_layer_sizes(sampler: InputSampler, **sizes: int) -> Inputs:
    """Return the sizes of a layer as {"sizes": …}; nothing is random."""
    return {"sizes": sizes}


def layer_parameters(layer_class, sizes: Mapping) -> Mapping[str, Value]:
    """List the names and shapes of all parameters of a new layer: ["W_K.weight (3, 7)", …]."""
    named = sorted(layer_class(**sizes).named_parameters())
    return {"parameters": [f"{name} {tuple(parameter.shape)}" for name, parameter in named]}


def hide(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, by: float) -> tuple[Tensor, Tensor]:
    """Compute attention with the number `by` in the place of each hidden score."""
    scores = scaled_scores(query, key)
    return attend(scores if mask is None else scores.masked_fill(~mask, by), value)
