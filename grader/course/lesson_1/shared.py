"""What several exercises of lesson 1 share: how queries, keys, values and masks are drawn, and attention from scores on."""

from __future__ import annotations

import torch
from attention.masks import causal_mask
from torch import Tensor

from grader.declaration.sampler import InputSampler
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
    """Draw queries and keys, which are multiplied by `scale`, and values where a width is given for them."""
    inputs = {
        "query": sampler.normal(*batch_shape, queries, d_k, scale=scale, dtype=dtype),
        "key": sampler.normal(*batch_shape, keys, d_k, scale=scale, dtype=dtype),
    }
    return (
        inputs if d_v is None else {**inputs, "value": sampler.normal(*batch_shape, keys, d_v, dtype=dtype)}
    )


def draw_mask(
    sampler: InputSampler, kind: str, batch_shape: tuple[int, ...], queries: int, keys: int
) -> Tensor:
    """Draw a mask of one of the kinds that broadcast to (..., Q, K).

    "each" has a row for every query and sequence, (..., Q, K). "shared" is (Q, K), "keys" (K,), "padding" (..., 1, K).
    "causal" is the causal mask. "blank" is "each" where one query of each sequence may attend nowhere. "queries",
    (..., Q, 1), lets a query attend everywhere or nowhere. "empty", (..., 1, K), hides all keys of the first sequence.
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


def attend(scores: Tensor, value: Tensor, dim: int = -1) -> tuple[Tensor, Tensor]:
    """Finish attention from scores on: the mistakes differ in how they make the scores."""
    weights = torch.softmax(scores, dim)
    return weights @ value, weights
