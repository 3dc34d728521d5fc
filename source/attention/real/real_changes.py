"""Changes of what real eyes see: squares of a picture blanked, and how alike the last [CLS] stays.

Axes: B pictures (3, 224, 224), n = 16 squares of 4 × 4 patches.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from attention.real.real_eyes import RealEyes, layer_by_layer

SQUARE = 56  # pixels


def last_cls(eyes: RealEyes, pictures: Tensor, patch_embedding: Callable[..., Tensor], vit_block: Callable) -> Tensor:
    """[CLS] after the last layer, (B, 384), brought to mean 0 and variance 1: what the model makes of each picture."""
    for tokens, _ in layer_by_layer(eyes, pictures, patch_embedding, vit_block):
        last = tokens[:, 0]
    return F.layer_norm(last, last.shape[-1:])


def squares_of(pictures: Tensor) -> Tensor:
    """Pictures (B, 3, 224, 224) cut into squares: (B, 16, 3 · 56²), row by row."""
    return F.unfold(pictures, SQUARE, stride=SQUARE).transpose(1, 2)


def pictures_of(squares: Tensor) -> Tensor:
    """Squares (B, 16, 3 · 56²) put together again: (B, 3, 224, 224)."""
    return F.fold(squares.transpose(1, 2), (4 * SQUARE, 4 * SQUARE), SQUARE, stride=SQUARE)


def mean_colour(picture: Tensor) -> Tensor:
    """Return a square of a picture's mean colour: (3 · 56²,)."""
    return picture.mean((1, 2)).repeat_interleave(SQUARE**2)


def order_by(map: Tensor) -> Tensor:
    """Return the squares (1, 16) in the order of a map (16, 16) over the patches, the brightest first."""
    return F.avg_pool2d(map.unsqueeze(0), 4).flatten(1).argsort(descending=True)


def middle_first() -> Tensor:
    """Return the squares (1, 16) from the middle outwards: an order that needs no model."""
    away = (torch.arange(16.0) - 7.5).square()
    return order_by(-(away[:, None] + away))


def contrast_first(picture: Tensor) -> Tensor:
    """Return the squares (1, 16) of a picture (3, 224, 224) by the variance of their pixels, the largest first."""
    return squares_of(picture.unsqueeze(0)).unflatten(-1, (3, -1)).var(-1).sum(-1).argsort(descending=True)


def unlike_border_first(picture: Tensor) -> Tensor:
    """Return the squares (1, 16) of a picture (3, 224, 224) by their colour.

    First is the one whose mean colour is farthest from that of the 12 outer ones.
    """
    colours = squares_of(picture.unsqueeze(0)).unflatten(-1, (3, -1)).mean(-1)  # (1, 16, 3)
    border = torch.ones(4, 4, dtype=torch.bool)
    border[1:3, 1:3] = False
    return (colours - colours[:, border.flatten()].mean(1)).norm(dim=-1).argsort(descending=True)
