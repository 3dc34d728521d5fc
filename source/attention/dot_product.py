"""Scaled dot-product attention.

Vaswani et al. 2017, section 3.2.1, eq. 1: https://arxiv.org/abs/1706.03762
Axes: Q query positions, K key positions, d_k key width, d_v value width.
"""

from math import sqrt

import torch
from torch import Tensor


def attention_scores(query: Tensor, key: Tensor) -> Tensor:
    """Return how well each query fits each key: their dot products, QKᵀ.

    Args:
        query: (..., Q, d_k)
        key: (..., K, d_k)

    Returns:
        (..., Q, K)

    Raises:
        ValueError: query and key differ in d_k.
    """
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key differ in d_k: {query.shape[-1]} and {key.shape[-1]}")
    return query @ key.transpose(-2, -1)


def scaled_scores(query: Tensor, key: Tensor) -> Tensor:
    """Return the scores divided by √d_k, so that their variance does not grow with the width.

    For query and key of independent standard normal numbers a dot product has variance d_k (Vaswani et al.
    2017, footnote 4).

    Args, returns, raises: as `attention_scores`.
    """
    return attention_scores(query, key) / sqrt(query.shape[-1])


def stable_softmax(scores: Tensor, dim: int = -1) -> Tensor:
    """Compute the softmax along `dim`, finite for scores of any size; where all scores are −inf, zeros.

    exp(x − max) / Σ exp(x − max): shifting by the maximum changes nothing in exact arithmetic and keeps exp
    from overflowing (Goodfellow, Bengio and Courville 2016, section 4.1).

    Args:
        scores: any shape; −inf marks what may not be attended to.

    Returns:
        The shape of scores; sums to 1 along `dim`, or to 0 where nothing may be attended to.
    """
    largest = scores.amax(dim, keepdim=True)
    exps = torch.exp(scores - largest.masked_fill(largest == -torch.inf, 0.0))
    total = exps.sum(dim, keepdim=True)
    return exps / total.masked_fill(total == 0, 1.0)


def attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Compute softmax(QKᵀ / √d_k) V.

    Args:
        query: (..., Q, d_k)
        key: (..., K, d_k)
        value: (..., K, d_v)

    Returns:
        output (..., Q, d_v), weights (..., Q, K); each row of weights sums to 1.

    Raises:
        ValueError: query and key differ in d_k.
    """
    return masked_attention(query, key, value)


def masked_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return attention that looks only where the mask allows.

    Args:
        query: (..., Q, d_k)
        key: (..., K, d_k)
        value: (..., K, d_v)
        mask: bool, broadcastable to (..., Q, K); True = may attend.

    Returns:
        output (..., Q, d_v), weights (..., Q, K). A query that may attend nowhere has all-zero weights and output.

    Raises:
        ValueError: query and key differ in d_k, or the mask is not bool.
    """
    scores = scaled_scores(query, key)
    if mask is not None:
        if mask.dtype != torch.bool:
            raise ValueError(f"the mask must be bool (True = may attend), not {mask.dtype}")
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights
