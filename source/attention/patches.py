"""Images as sequences: cutting an image into patches, and exchanging two of them.

Dosovitskiy et al. 2021, section 3.1: https://arxiv.org/abs/2010.11929
Axes: B images, H×W pixels, n patches.
"""

import torch
from torch import Tensor


def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into squares, row by row; within a square the pixels are also read row by row.

    Args:
        images: (..., H, W)
        patch_size: side of a square, in pixels.

    Returns:
        (..., n, patch_size²) with n = (H / patch_size) · (W / patch_size).

    Raises:
        ValueError: patch_size does not divide H and W.
    """
    *lead, height, width = images.shape
    if patch_size < 1 or height % patch_size or width % patch_size:
        raise ValueError(f"images of {height}×{width} pixels do not divide into patches of {patch_size}×{patch_size}")
    rows, columns = height // patch_size, width // patch_size
    grid = images.reshape(*lead, rows, patch_size, columns, patch_size)
    return grid.transpose(-3, -2).reshape(*lead, rows * columns, patch_size**2)


def swap_patches(image_patches: Tensor, first: int | Tensor, second: int | Tensor) -> Tensor:
    """Return a copy in which two patches have changed places: the smallest experiment on what a model looks at.

    Args:
        image_patches: (..., n, d)
        first, second: positions, for all scenes; or (B,) integers, one pair for each scene of (B, n, d).

    Returns:
        (..., n, d), a new tensor.
    """
    n = image_patches.shape[-2]
    shape = image_patches.shape[:-2]
    first, second = (_per_scene(position, shape, image_patches.device) for position in (first, second))
    order = torch.arange(n, device=image_patches.device).expand(*shape, n)
    order = order.scatter(-1, first, second).scatter(-1, second, first)
    return image_patches.gather(-2, order.unsqueeze(-1).expand_as(image_patches))


def _per_scene(position: int | Tensor, shape: torch.Size, device: torch.device) -> Tensor:
    """Return one position for each scene: (..., 1)."""
    return torch.as_tensor(position, dtype=torch.long, device=device).expand(shape).unsqueeze(-1)
