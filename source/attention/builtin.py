"""Provided to later lessons: attention and masks on PyTorch's own, under the names of the exercises.

`F.scaled_dot_product_attention` returns no weights. With an identity matrix beside the value it does: the weights
times the identity are the weights.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def causal_mask(n: int, device: torch.device | str | None = None) -> Tensor:
    """(n, n) bool: position i may attend to positions 0…i."""
    position = torch.arange(n, device=device)
    return torch.le(position, position.unsqueeze(-1))


def padding_mask(lengths: Tensor, n: int) -> Tensor:
    """(B, 1, n) bool: every query may attend to the first lengths[b] keys."""
    return torch.lt(torch.arange(n, device=lengths.device), lengths.reshape(-1, 1, 1))


def masked_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """query (..., Q, d_k), key (..., K, d_k), value (..., K, d_v), mask bool broadcastable to (..., Q, K)
    → output (..., Q, d_v), weights (..., Q, K)."""
    identity = torch.eye(key.shape[-2], dtype=value.dtype, device=value.device)
    both = torch.cat([value, identity.expand(*value.shape[:-1], -1)], dim=-1)
    attended = F.scaled_dot_product_attention(query, key, both, attn_mask=mask)
    if mask is not None:
        attended = attended.masked_fill(~mask.any(-1, keepdim=True), 0.0)  # a query that may attend nowhere
    return attended[..., : value.shape[-1]], attended[..., value.shape[-1] :]
