"""Attention for long sequences: a window, a linear form, and the fused kernel.

Dense attention makes a weight for every pair: n² of them. Axes: n positions, w window, d key width, d_v value width.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def window_mask(n: int, window: int, device: torch.device | str | None = None) -> Tensor:
    """Position i may attend to i − window … i + window: (n, n) bool."""
    position = torch.arange(n, device=device)
    return (position.unsqueeze(1) - position).abs() <= window


def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Return attention to neighbours at most `window` places away: time and memory O(n · window).

    Beltagy et al. 2020, section 3.1: https://arxiv.org/abs/2004.05150. The sequence is cut into blocks as long as
    the window; a block of queries needs its own keys and those of the blocks on either side, never an n×n matrix. All
    blocks go through the fused kernel at once, so the scores are not written to memory either.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)
        window: at least 0.

    Returns:
        (..., n, d_v), as dense attention under `window_mask` gives.

    Raises:
        ValueError: the window is negative.
    """
    if window < 0:
        raise ValueError(f"the window must be 0 or more, not {window}")
    n, size = query.shape[-2], max(window, 1)
    blocks = -(-n // size)
    queries = _blocks(query, size, blocks)  # (..., blocks, size, d)
    keys, values = (_neighbours(_blocks(source, size, blocks)) for source in (key, value))
    position = torch.arange(blocks * size, device=query.device).reshape(blocks, size)
    neighbour = position[:, :1] - size + torch.arange(3 * size, device=query.device)  # (blocks, 3 size)
    near = (position.unsqueeze(-1) - neighbour.unsqueeze(-2)).abs() <= window
    real = ((neighbour >= 0) & (neighbour < n)).unsqueeze(-2)
    # A query of the padding is thrown away; until then it may look anywhere, since nowhere would be 0/0.
    mask = (near & real) | (position >= n).unsqueeze(-1)
    flat = (part.reshape(-1, *part.shape[-3:]) for part in (queries, keys, values))  # the kernels know four axes
    output = F.scaled_dot_product_attention(*flat, attn_mask=mask)
    return output.reshape(*query.shape[:-2], blocks * size, value.shape[-1])[..., :n, :]


def _blocks(tokens: Tensor, size: int, blocks: int) -> Tensor:
    """(..., n, d) padded with zeros and cut: (..., blocks, size, d)."""
    return F.pad(tokens, (0, 0, 0, blocks * size - tokens.shape[-2])).unflatten(-2, (blocks, size))


def _neighbours(blocks: Tensor) -> Tensor:
    """Return each block with the one before and the one after: (..., blocks, 3 size, d)."""
    padded = F.pad(blocks, (0, 0, 0, 0, 1, 1))
    return torch.cat([padded[..., :-2, :, :], padded[..., 1:-1, :, :], padded[..., 2:, :, :]], dim=-2)


def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return attention without softmax: similarity φ(q)·φ(k) with φ = elu + 1, in O(n · d · d_v).

    Katharopoulos et al. 2020, section 3.2: https://arxiv.org/abs/2006.16236. The sums over all keys are made once
    and shared by all queries. This is another attention, not an approximation of softmax.

    Args:
        query, key: (..., n, d)
        value: (..., n, d_v)

    Returns:
        (..., n, d_v)
    """
    query, key = F.elu(query) + 1, F.elu(key) + 1
    summary = key.transpose(-2, -1) @ value  # (..., d, d_v)
    total = query @ key.sum(-2).unsqueeze(-1)  # (..., n, 1)
    return query @ summary / total


def fused_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Compute exact attention in one kernel that never writes the weights to memory, and so cannot return them.

    Dao et al. 2022, section 3.1: https://arxiv.org/abs/2205.14135. It saves memory traffic, not arithmetic.

    Args, returns: as `masked_attention`, the output alone.

    Raises:
        ValueError: there are not as many keys as values. PyTorch's kernel for the CPU does not look, and reads beyond them.
    """
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"{key.shape[-2]} keys do not go with {value.shape[-2]} values")
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def fused_forward(layer, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
    """Return what a MultiHeadAttention in evaluation mode puts out, through the fused kernel.

    Args:
        tokens: (..., T, d_model)
        context: (..., S, d_context), or None for self-attention.
        mask: bool, of two axes or more, broadcastable to (..., T, S).

    Returns:
        (..., T, d_model)
    """
    context = tokens if context is None else context
    query, key, value = (
        linear(source).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear, source in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    return layer.W_O(fused_attention(query, key, value, mask).transpose(-3, -2).flatten(-2))
