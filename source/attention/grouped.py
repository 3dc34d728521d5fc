"""Grouped queries: several heads ask, and share one set of keys and values.

Ainslie et al. 2023, section 2.2: https://arxiv.org/abs/2305.13245. One group for all heads is multi-query attention
(Shazeer 2019, section 3: https://arxiv.org/abs/1911.02150); as many groups as heads is multi-head attention.
Axes: H heads, G groups, T queries, S keys.
"""

from math import sqrt

import torch
from torch import Tensor


def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Compute attention in which heads g·H/G … (g + 1)·H/G − 1 look at the keys and values of group g.

    The heads of a group are put below each other, as further queries: no key is copied.

    Args:
        query: (..., H, T, d)
        key: (..., G, S, d)
        value: (..., G, S, d_v)
        mask: bool, broadcastable to (..., T, S), the same for every head; True = may attend. Each query may attend
            to one key at least.

    Returns:
        (..., H, T, d_v)

    Raises:
        ValueError: H is no multiple of G.
    """
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups:
        raise ValueError(f"{heads} heads cannot be shared out to {groups} groups")
    grouped = query.unflatten(-3, (groups, heads // groups))  # (..., G, H/G, T, d)
    scores = grouped.flatten(-3, -2) @ key.transpose(-2, -1) / sqrt(query.shape[-1])
    scores = scores.unflatten(-2, grouped.shape[-3:-1])  # (..., G, H/G, T, S)
    if mask is not None:
        mask = mask if mask.ndim <= 2 else mask.unsqueeze(-3).unsqueeze(-3)
        scores = scores.masked_fill(~mask, -torch.inf)
    output = scores.softmax(-1).flatten(-3, -2) @ value  # (..., G, H/G · T, d_v)
    return output.unflatten(-2, grouped.shape[-3:-1]).flatten(-4, -3)
