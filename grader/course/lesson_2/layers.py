"""Functions that the exercises about layers share: random weights, and a probe that also lists a layer's parameters.

A probe is a function that calls the student's code and returns the values to compare.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

import torch
from torch import Tensor

from grader.course.common.model_state import list_parameters
from grader.declare.probes import zeroed_layer_gradients
from grader.declare.sampler import InputSampler


def draw_projection(
    sampler: InputSampler, name: str, d_in: int, d_out: int, bias: bool = True, dtype: torch.dtype = torch.float32
) -> dict[str, Tensor]:
    """Draw weight and bias of an nn.Linear. Return them by parameter name, which begins with `name`."""
    weights = {f"{name}.weight": sampler.normal(d_out, d_in, scale=1.5 / sqrt(d_in), dtype=dtype)}
    return {**weights, f"{name}.bias": sampler.normal(d_out, dtype=dtype)} if bias else weights


def draw_head_projections(
    sampler: InputSampler, prefix: str, d_model: int, d_context: int, dtype: torch.dtype = torch.float32
) -> dict[str, Tensor]:
    """Draw weights for W_Q, W_K, W_V and W_O of a MultiHeadAttention, by parameter name.

    Args:
        prefix: the name of the layer within another layer, with a dot, as in "cross_attn."; "" if
            it is not a part of another layer.
        d_context: the width of the tokens that W_K and W_V read.
    """
    weights: dict[str, Tensor] = {}
    for name, width in (("W_Q", d_model), ("W_K", d_context), ("W_V", d_context), ("W_O", d_model)):
        weights |= draw_projection(sampler, prefix + name, width, d_model, bias=False, dtype=dtype)
    return weights


def draw_layer_mask(
    sampler: InputSampler, kind: str, batch_shape: tuple[int, ...], queries: int, keys: int
) -> Tensor | None:
    """Draw a mask of a layer, or return None for the kind "".

    Args:
        kind: "" (no mask), "causal", "padding", "keys" (one row for all queries), "any" (a random
            mask), "nowhere" (a random mask by which the second query may attend nowhere), or "none"
            (no query may attend anywhere).
    """
    if kind == "causal":
        return torch.ones(queries, keys, dtype=torch.bool).tril()
    if kind == "padding":
        return torch.arange(keys) < sampler.integers(1, keys, *batch_shape, 1, 1)
    if kind == "keys":
        return sampler.mask(1, keys)
    if kind == "none":
        return torch.zeros(*batch_shape, 1, keys, dtype=torch.bool)
    if not kind:
        return None
    mask = sampler.mask(*batch_shape, queries, keys)
    mask[..., 1, :] &= kind == "any"
    return mask


def gradients_and_size(
    layer_class, sizes: Mapping, weights: Mapping, arguments: Mapping, returns: list[str | None], grad_outputs: Mapping
) -> dict[str, Any]:
    """Return side effects and gradients of a layer with zeros in it, and its parameters with their shapes."""
    report = zeroed_layer_gradients(layer_class, sizes, weights, arguments, returns, grad_outputs)
    return {**report, "parameters": list_parameters(layer_class(**sizes))}
