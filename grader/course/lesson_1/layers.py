"""Functions that the layers of 1.7 and 1.8 share: random weights, a probe of their parameters, and mistakes.

A probe is a function that calls the student's code and returns the values to compare.
"""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

import torch
from attention.dot_product import scaled_scores
from torch import Tensor

from grader.course.common.model_state import list_parameters
from grader.course.lesson_1.shared import draw_mask
from grader.declare.authoring import Draw, Inputs, InputSampler, Mistake, Sizes, Value, edits


def projections(**widths: str) -> Draw:
    """Return a function that draws weights by parameter name.

    For example, W_Q="d_text" gives "W_Q.weight" of shape (d_k, d_text). Both numbers are sizes of
    the trial.
    """

    def draw(sampler: InputSampler, sizes: Sizes) -> dict[str, Tensor]:
        dtype = sizes.get("dtype", torch.float32)
        return {
            f"{name}.weight": sampler.normal(sizes["d_k"], sizes[width], scale=1.5 / sqrt(sizes[width]), dtype=dtype)
            for name, width in widths.items()
        }

    return draw


def mask_first(draw: Callable[..., Inputs], queries: str, keys: str) -> Callable[..., Inputs]:
    """Return a function that draws a layer with `draw`, and also draws a mask if the trial names a kind of mask.

    The mask is drawn first. Another order would give each submission other hidden inputs than
    before.

    Args:
        queries, keys: the names of the two sizes of the mask.
    """

    def draw_all(sampler: InputSampler, *, mask: str | None = None, **sizes: Any) -> Inputs:
        batch_shape = sizes.get("batch_shape", ())
        made = {"mask": draw_mask(sampler, mask, batch_shape, sizes[queries], sizes[keys])} if mask else {}
        inputs = draw(sampler, **sizes)
        return {**inputs, "arguments": {**inputs["arguments"], **made}}

    return draw_all


def draw_layer_sizes(sampler: InputSampler, **sizes: int) -> Inputs:
    """Return the sizes of a layer as {"sizes": …}. Nothing is random."""
    return {"sizes": sizes}


def layer_parameters(layer_class, sizes: Mapping) -> Mapping[str, Value]:
    """Return the names and shapes of all parameters of a new layer: ["W_K.weight (3, 7)", …]."""
    return {"parameters": list_parameters(layer_class(**sizes))}


def _hidden_by(number: float):
    """Return a function for attention that only replaces each hidden score by a number.

    Rows that may attend nowhere get no special treatment.
    """

    def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        scores = scaled_scores(query, key)
        weights = torch.softmax(scores if mask is None else scores.masked_fill(~mask, number), -1)
        return weights @ value, weights

    return attend


# Wrong ways of `masked_attention`, for the mistakes.
HIDDEN_OTHERWISE = {"hidden_by_minus_infinity": _hidden_by(-torch.inf), "hidden_by_a_large_number": _hidden_by(-1e9)}


def layer_edits(layer: type, text: str, asks: str, answers: str, width: str, other_width: str) -> tuple[Mistake, ...]:
    """Return the mistakes that a text describes, and the mistakes that students make in both layers.

    Args:
        text: the mistakes in this layer only.
        asks, answers: parameters of `forward`: tokens for the queries, and for keys and values.
        width, other_width: parameters of the class: the widths of these two kinds of tokens.
    """
    name = layer.__name__.removesuffix("Attention").lower()  # "self", "cross"
    common = f"""\
    {name}_unscaled: Your code does not divide the scores by √d_k. Use your masked_attention of 1.6, which divides
        them for you.
        self.W_Q({asks})  →  self.W_Q({asks}) * self.W_Q.out_features ** 0.5
    {name}_mask_dropped: The mask changes nothing here: pass it on to masked_attention.
        self.W_V({answers}), mask  →  self.W_V({answers})
    {name}_with_bias: The projections have a bias, but the task asks for none: nn.Linear(…, bias=False).
        self.W_Q = nn.Linear({width}, d_k, bias=False)  →  self.W_Q = nn.Linear({width}, d_k)
        self.W_K = nn.Linear({other_width}, d_k, bias=False)  →  self.W_K = nn.Linear({other_width}, d_k)
        self.W_V = nn.Linear({other_width}, d_k, bias=False)  →  self.W_V = nn.Linear({other_width}, d_k)
    {name}_weights_detached: The returned weights are cut off from the gradient, as by .detach(). Return them as they
        are, so that training can learn from them.
        = result[0], result[1].detach()
    {name}_nan_rows: In your code a token that may look nowhere gets NaN, from 0 divided by 0 or from the softmax of a
        row of −∞. Use your masked_attention of 1.6, which gives zeros there.
        return masked_attention  →  return hidden_by_minus_infinity
    {name}_even_rows: In your code a token that may look nowhere looks everywhere, because all its scores become the
        same large negative number. Use your masked_attention of 1.6, which gives zeros there.
        return masked_attention  →  return hidden_by_a_large_number
"""
    return edits(layer, text + common, **HIDDEN_OTHERWISE)
