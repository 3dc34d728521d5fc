"""Splitting tokens into heads and joining them again: a reshape and a transpose, nothing is computed.

Axes: H heads, n tokens, d_model = H · d_head.
"""

from torch import Tensor


def split_heads(tokens: Tensor, num_heads: int) -> Tensor:
    """Give each head its own d_head numbers of every token: (..., n, d_model) → (..., H, n, d_head).

    Head h holds the features h · d_head … (h + 1) · d_head − 1.

    Raises:
        ValueError: d_model is no multiple of num_heads.
    """
    if tokens.shape[-1] % num_heads:
        raise ValueError(f"d_model = {tokens.shape[-1]} is no multiple of num_heads = {num_heads}")
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge_heads(heads: Tensor) -> Tensor:
    """Return the heads' answers side by side: (..., H, n, d_head) → (..., n, H · d_head). Undoes `split_heads`."""
    return heads.transpose(-3, -2).flatten(-2)
