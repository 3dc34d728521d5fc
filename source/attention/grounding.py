"""Where a cross-attention looks, weighted by what it brings back.

A weight says how much of a value is taken, not how long that value is: a head that rests on a patch with a short
value adds almost nothing (Kobayashi et al. 2020, section 3: https://arxiv.org/abs/2004.10102).
Axes: H heads, T text tokens, S image tokens.
"""

import torch
from torch import Tensor, nn


def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """Return how long a vector each patch adds to each token, over all heads together.

    Args:
        cross_attn: a MultiHeadAttention.
        tokens: (..., T, d_model), what the cross-attention gets (after norm2).
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative: for each patch the L2 norm over d_model of the sum over heads of
        weight × value × the head's slice of W_O.
    """
    _, weights = cross_attn(tokens, image_tokens)  # (..., H, T, S)
    value = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.unflatten(-1, (cross_attn.num_heads, -1)).permute(1, 2, 0)  # (H, d_head, d_model)
    brought = value @ slices  # (..., H, S, d_model)
    return torch.einsum("...hts,...hsd->...tsd", weights, brought).norm(dim=-1)
