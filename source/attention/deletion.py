"""Is an explanation right? Take away what it calls important, and see how fast the answer goes.

Petsiuk et al. 2018, section 3.3 (deletion and insertion): https://arxiv.org/abs/1806.07421
Axes: B scenes, n patches, d numbers in a patch.
"""

from collections.abc import Callable

import torch
from torch import Tensor

Score = Callable[[Tensor], Tensor]  # image patches (B, n, d) → one number for each scene (B,)


def deletion_curve(score: Score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    """Return the score while patches are blanked, one after the other.

    Args:
        score: called with image patches (B, n, d), returns (B,).
        image_patches: (B, n, d)
        order: (B, n) indices of the patches of each scene, the first to go first.
        blank: (d,), an empty patch.

    Returns:
        (B, n + 1): the score with 0, 1, … n patches blanked.
    """
    turn = order.argsort(1)  # (B, n): when each patch's turn comes
    steps = range(order.shape[1] + 1)
    return torch.stack([_score_with(score, image_patches, turn >= step, blank) for step in steps], 1)


def insertion_curve(score: Score, image_patches: Tensor, order: Tensor, blank: Tensor) -> Tensor:
    """Return the score while patches are put into an empty scene, one after the other.

    All else is as in `deletion_curve`.
    """
    turn = order.argsort(1)
    steps = range(order.shape[1] + 1)
    return torch.stack([_score_with(score, image_patches, turn < step, blank) for step in steps], 1)


def _score_with(score: Score, image_patches: Tensor, shown: Tensor, blank: Tensor) -> Tensor:
    """Return the score of scenes of which only some patches (B, n) are shown."""
    return score(torch.where(shown.unsqueeze(-1), image_patches, blank))


def area_under(curve: Tensor) -> Tensor:
    """Return the area under curves (..., n + 1), by trapezoids, over a width of 1: (...)."""
    return ((curve[..., :-1] + curve[..., 1:]) / 2).mean(-1)
