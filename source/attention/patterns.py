"""What an attention map looks like, in a number and in a word.

A word for a map describes where weight lies, not what it is good for: a hub, the key that every query looks at, is
often only a place to rest (an attention sink: Xiao et al. 2023, section 3.1, https://arxiv.org/abs/2309.17453).
Axes: T queries, S keys.
"""

from math import log

import torch
from torch import Tensor

PATTERNS = ("uniform", "hub", "diagonal", "local", "other")


def attention_entropy(weights: Tensor) -> Tensor:
    """Return how widely each query looks: −Σ w log w / log S, which is 0 for one key and 1 for all keys alike.

    Args:
        weights: (..., S) with S ≥ 2; rows sum to 1, or to 0 for a query that may attend nowhere (entropy 0).

    Returns:
        (...)
    """
    return torch.special.entr(weights).sum(-1) / log(weights.shape[-1])


def classify_pattern(weights: Tensor) -> str:
    """Return the first word of `PATTERNS` that fits one square map.

    - "uniform": the mean entropy of the rows is above 0.95.
    - "hub": one key gets at least half of all weight (a vertical stripe).
    - "diagonal": at least half of all weight is on the diagonal.
    - "local": at least 3/4 of all weight is on the diagonal and the keys next to it.
    - "other": none of these.

    Args:
        weights: (T, T), rows sum to 1.
    """
    total = weights.sum()
    position = torch.arange(len(weights), device=weights.device)
    near = (position[:, None] - position).abs() <= 1
    if attention_entropy(weights).mean() > 0.95:
        return "uniform"
    if weights.sum(0).max() >= total / 2:
        return "hub"
    if weights.diagonal().sum() >= total / 2:
        return "diagonal"
    return "local" if weights[near].sum() >= 0.75 * total else "other"
