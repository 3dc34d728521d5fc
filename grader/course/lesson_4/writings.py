"""Other right ways to write lesson 4's exercises, as students write them. Some mistakes are edits of these."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def window_by_index(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Return windowed attention that gathers the neighbours of each position, and hides those beyond the ends."""
    n = query.shape[-2]
    offsets = torch.arange(-window, window + 1, device=query.device)
    place = torch.arange(n, device=query.device).unsqueeze(-1) + offsets
    beyond = (place < 0) | (place >= n)
    place = place.clamp(0, n - 1)
    near_keys, near_values = key[..., place, :], value[..., place, :]
    scores = (query.unsqueeze(-2) * near_keys).sum(-1) / math.sqrt(query.shape[-1])
    weights = torch.softmax(scores.masked_fill(beyond, -torch.inf), dim=-1)
    return (weights.unsqueeze(-1) * near_values).sum(-2)


def fused_in_steps(
    layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None
) -> Tensor:
    """Return a layer's output, with the heads split and joined by single steps."""
    context = tokens if context is None else context
    heads = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (heads, -1)).transpose(-3, -2)
    key = layer.W_K(context).unflatten(-1, (heads, -1)).transpose(-3, -2)
    value = layer.W_V(context).unflatten(-1, (heads, -1)).transpose(-3, -2)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    output = output.transpose(-3, -2).flatten(-2)
    return layer.W_O(output)


def grouped_by_repeating(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return grouped attention in which each head gets a copy of its group's keys and values."""
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups != 0:
        raise ValueError("the heads cannot be shared out")
    key = key.repeat_interleave(heads // groups, dim=-3)
    value = value.repeat_interleave(heads // groups, dim=-3)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        mask = mask.unsqueeze(-3) if mask.dim() > 2 else mask
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value
