"""Two photos that scikit-learn ships, cut for real eyes, and a box of patches by hand around the object in each.

Axes of a picture: 3 colours, 224 × 224 pixels, which are 16 × 16 patches of 14 × 14.
"""

import torch
from sklearn.datasets import load_sample_image
from torch import Tensor

from attention.real.real_eyes import SIDE, as_picture

# Name: file, and where the square is cut out (see `as_picture`). By danielbuechele and by vultilion, CC BY 2.0; scikit-learn ships both.
PHOTOS = {"temple": ("china.jpg", 0.0), "flower": ("flower.jpg", 0.5)}
# First and last row, first and last column, counted from 0: the temple without its roots in the trees, the whole flower.
BOXES = {"temple": (2, 14, 3, 11), "flower": (3, 12, 2, 12)}
ASIDE = ", aside"  # behind a photo's name: the square is cut out four patches further right, and the object stands at the left edge


def sample_pictures() -> dict[str, Tensor]:
    """Both pictures (3, 224, 224) by name, numbers 0 … 1."""
    return {name: as_picture(load_sample_image(file), left) for name, (file, left) in PHOTOS.items()}


def pictures_aside() -> dict[str, Tensor]:
    """Return the same photos, cut so that their objects stand at the left edge."""
    return {name + ASIDE: as_picture(load_sample_image(file), left + 0.5) for name, (file, left) in PHOTOS.items()}


def in_box(name: str) -> Tensor:
    """(16, 16) bool: which patches lie in the box of a picture."""
    top, bottom, left, right = BOXES[name.removesuffix(ASIDE)]
    moved = 4 if name.endswith(ASIDE) else 0
    return box_of(top, bottom, max(0, left - moved), right - moved)


def box_of(top: int, bottom: int, left: int, right: int) -> Tensor:
    """(16, 16) bool: which patches lie in the box of these rows and columns, counted from 0, the last ones among them."""
    place = torch.arange(SIDE)
    return ((top <= place) & (place <= bottom))[:, None] & ((left <= place) & (place <= right))
