"""What exercises of lesson 1 share: functions that draw queries, keys, values and masks."""

from __future__ import annotations

import torch
from attention.masks import causal_mask
from torch import Tensor

from grader.declare.sampler import InputSampler
from grader.records import Inputs


def draw_attention(
    sampler: InputSampler,
    *,
    batch_shape: tuple[int, ...] = (),
    queries: int,
    keys: int,
    d_k: int,
    d_v: int | None = None,
    scale: float = 1.0,
    dtype: torch.dtype = torch.float32,
) -> Inputs:
    """Draw queries and keys with standard deviation `scale`, and, if d_v is given, values of that width."""
    inputs = {
        "query": sampler.normal(*batch_shape, queries, d_k, scale=scale, dtype=dtype),
        "key": sampler.normal(*batch_shape, keys, d_k, scale=scale, dtype=dtype),
    }
    return inputs if d_v is None else {**inputs, "value": sampler.normal(*batch_shape, keys, d_v, dtype=dtype)}


def draw_mask(sampler: InputSampler, kind: str, batch_shape: tuple[int, ...], queries: int, keys: int) -> Tensor:
    """Draw a bool mask that broadcasts to (..., Q, K), True = may attend.

    Kinds by shape, all random: "each" (..., Q, K), "shared" (Q, K), "keys" (K,), "padding" (..., 1, K),
    "queries" (..., Q, 1), where a query may attend everywhere or nowhere. "causal" (Q, K) is the last Q rows
    of the causal mask. "blank" is "each", except that one random query of each sequence may attend nowhere.
    "empty" is "padding", except that it hides all keys of the first sequence.
    """
    if kind == "causal":
        return causal_mask(keys)[-queries:]
    if kind == "queries":
        return sampler.mask(*batch_shape, queries).unsqueeze(-1)
    if kind == "empty":
        kept = torch.arange(batch_shape[0]) > 0
        return sampler.mask(*batch_shape, 1, keys) & kept.reshape(-1, *(1,) * (len(batch_shape) + 1))
    shapes = {"shared": (queries, keys), "keys": (keys,), "padding": (*batch_shape, 1, keys)}
    mask = sampler.mask(*shapes.get(kind, (*batch_shape, queries, keys)))
    if kind == "blank":
        blank = sampler.integers(0, queries, *batch_shape, 1)
        mask = mask & (torch.arange(queries) != blank).unsqueeze(-1)
    return mask
