"""Rotary positions: queries and keys are turned by their places, so that a score knows the distance alone.

Su et al. 2021, section 3.2.2 and eq. 34: https://arxiv.org/abs/2104.09864
Axes: n positions, d width. Pair i of the d/2 pairs turns by position · base^(−2i/d).
"""

import torch
from torch import Tensor


def rotate(vectors: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbours (2i, 2i + 1) in a vector by the angle position · base^(−2i/d).

    The pairs are neighbours, as in the paper. Some programs pair dimension i with i + d/2 instead; that is the same idea
    with the dimensions in another order, and gives other numbers.

    Args:
        vectors: (..., n, d), d even; queries or keys, never values.
        positions: (n,), the same for all sequences, or (..., n), one for each vector. Integers or fractions.

    Returns:
        (..., n, d), each vector as long as it was.

    Raises:
        ValueError: d is odd.
    """
    d = vectors.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} is odd, so a dimension has no partner")
    frequency = base ** -(torch.arange(0, d, 2, dtype=torch.float64, device=vectors.device) / d)
    angle = positions.unsqueeze(-1) * frequency  # (..., n, d/2)
    cos, sin = angle.cos().to(vectors.dtype), angle.sin().to(vectors.dtype)
    first, second = vectors[..., 0::2], vectors[..., 1::2]
    return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)


def rotate_2d(vectors: Tensor, rows: Tensor, columns: Tensor, base: float = 10000.0) -> Tensor:
    """Turn the first d/2 dimensions by the row, and the last d/2 by the column, as `rotate` does.

    Heo et al. 2024, axial frequencies: https://arxiv.org/abs/2403.13298. There the pairs of rows and columns alternate.

    Args:
        vectors: (..., n, d), d a multiple of 4.
        rows, columns: (n,) or (..., n), the place of each patch in the image.

    Returns:
        (..., n, d)

    Raises:
        ValueError: d is no multiple of 4.
    """
    d = vectors.shape[-1]
    if d % 4:
        raise ValueError(f"d = {d} is no multiple of 4: rows and columns need pairs in equal number")
    by_row, by_column = vectors[..., : d // 2], vectors[..., d // 2 :]
    return torch.cat([rotate(by_row, rows, base), rotate(by_column, columns, base)], dim=-1)
