"""Functions that exercises of lesson 1 share to draw queries, keys, values and masks."""

import torch
from attention.masks import causal_mask
from torch import Tensor

from grader.declare.authoring import Draw, InputSampler, Sizes, drawn, normal, where_given

# Queries and keys with standard deviation `scale`, and values where a trial gives d_v.
ATTENTION_INPUTS = dict(
    query=normal("* queries d_k", scale="scale"),
    key=normal("* keys d_k", scale="scale"),
    value=where_given("d_v", "* keys d_v"),
)
draw_attention = drawn(**ATTENTION_INPUTS)


def a_mask(queries: str, keys: str) -> Draw:
    """Return a function that draws a mask of the kind that the trial's size "mask" names, if it names one.

    Args:
        queries, keys: the names of the trial's sizes for the two axes.
    """

    def draw(sampler: InputSampler, sizes: Sizes) -> Tensor:
        return draw_mask(sampler, sizes["mask"], sizes.get("batch_shape", ()), sizes[queries], sizes[keys])

    return where_given("mask", draw)


def draw_mask(sampler: InputSampler, kind: str, batch_shape: tuple[int, ...], queries: int, keys: int) -> Tensor:
    """Draw a bool mask that broadcasts to (..., Q, K), True = may attend.

    The random kinds and their shapes are "each" (..., Q, K), "shared" (Q, K), "keys" (K,),
    "padding" (..., 1, K), and "queries" (..., Q, 1), with which a query may attend everywhere or
    nowhere. "causal" is the last Q rows of the causal mask (K, K). "blank" is "each", except that
    one random query of each sequence may attend nowhere. "empty" is "padding", except that it hides
    all keys of the first sequence.
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
