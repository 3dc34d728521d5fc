"""What maps of real eyes are measured by: share on an object, what rests on [CLS], how even they are.

Axes: L layers, H heads, T = 1 + n tokens of which the first is [CLS].
"""

import torch
from torch import Tensor

from attention.patterns import attention_entropy


def share_in(maps: Tensor, box: Tensor) -> Tensor:
    """Return which share of a map's weight lies in a box.

    From maps (..., rows, columns) and a box (rows, columns) of bool comes (...), 0 … 1.

    An even map has the box's share of the patches: that is chance.
    """
    return (maps * box.to(maps)).sum((-2, -1)) / maps.sum((-2, -1))


def resting(weights: Tensor) -> Tensor:
    """Return what [CLS] gives itself: weights (..., T, T) → (...), 0 … 1; by chance 1/T."""
    return weights[..., 0, 0]


def evenness(weights: Tensor) -> Tensor:
    """Return the entropy of each query's weights, as a share of the largest possible, log T.

    The result is the mean over the queries.

    Args:
        weights: (..., T, T)

    Returns:
        (...), 0 where every query looks at one token, 1 where all look everywhere alike.
    """
    return attention_entropy(weights).mean(-1)


def distance(weights: Tensor, columns: int) -> Tensor:
    """Return how far patches look, in patches: the mean over the patches that ask, [CLS] left out on both sides.

    Dosovitskiy et al. 2021, figure 7: https://arxiv.org/abs/2010.11929

    Args:
        weights: (..., T, T) with T = 1 + rows · columns.

    Returns:
        (...), in units of a patch's side.
    """
    between = weights[..., 1:, 1:]
    place = torch.arange(between.shape[-1], device=weights.device)
    places = torch.stack([place // columns, place % columns], dim=-1).to(weights)
    apart = torch.cdist(places, places)
    return ((between * apart).sum(-1) / between.sum(-1)).mean(-1)
