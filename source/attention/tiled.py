"""Tiled attention: exact, and without the matrix of weights, because the softmax is made while the keys go by.

Online softmax: Milakov and Gimelshein 2018, algorithm 3: https://arxiv.org/abs/1805.02867
Tiles: Dao et al. 2022, section 3.1: https://arxiv.org/abs/2205.14135
Axes: T queries, S keys.
"""

from math import sqrt

import torch
from torch import Tensor


def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ / √d) V, with `tile` keys at a time: memory in proportion to T · tile, and not to T · S.

    Three numbers are kept for each query: the largest score so far, the sum of the exponentials, and their sum with the
    values. When a larger score comes, both sums are scaled down to it. In training autograd keeps every tile,
    so there the memory is not saved; FlashAttention computes the tiles a second time instead.

    Args:
        query: (..., T, d)
        key: (..., S, d)
        value: (..., S, d_v)
        tile: at least 1; it need not divide S.

    Returns:
        (..., T, d_v)

    Raises:
        ValueError: the tile is smaller than 1.
    """
    if tile < 1:
        raise ValueError(f"a tile needs 1 key or more, not {tile}")
    query = query / sqrt(query.shape[-1])
    largest = query.new_full((*query.shape[:-1], 1), -torch.inf)  # (..., T, 1)
    total = query.new_zeros(largest.shape)
    summed = query.new_zeros((*query.shape[:-1], value.shape[-1]))  # (..., T, d_v)
    for start in range(0, key.shape[-2], tile):
        scores = query @ key[..., start : start + tile, :].transpose(-2, -1)  # (..., T, tile)
        before, largest = largest, torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = torch.exp(before - largest)
        weights = torch.exp(scores - largest)
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ value[..., start : start + tile, :]
    return summed / total
