"""Attention and masks on PyTorch's own, under the names of the exercises of earlier lessons.

`F.scaled_dot_product_attention` returns no weights. With an identity matrix beside the value it does: the weights
times the identity are the weights.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def causal_mask(n: int, device: torch.device | str | None = None) -> Tensor:
    """(n, n) bool: position i may attend to positions 0…i."""
    position = torch.arange(n, device=device)
    return torch.le(position, position.unsqueeze(-1))


def padding_mask(lengths: Tensor, n: int) -> Tensor:
    """(B, 1, n) bool: every query may attend to the first lengths[b] keys."""
    return torch.lt(torch.arange(n, device=lengths.device), lengths.reshape(-1, 1, 1))


def masked_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """query (..., Q, d_k), key (..., K, d_k), value (..., K, d_v), mask bool broadcastable to (..., Q, K)
    → output (..., Q, d_v), weights (..., Q, K)."""
    identity = torch.eye(key.shape[-2], dtype=value.dtype, device=value.device)
    both = torch.cat([value, identity.expand(*value.shape[:-1], -1)], dim=-1)
    attended = F.scaled_dot_product_attention(query, key, both, attn_mask=mask)
    if mask is not None:
        attended = attended.masked_fill(~mask.any(-1, keepdim=True), 0.0)  # a query that may attend nowhere
    return attended[..., : value.shape[-1]], attended[..., value.shape[-1] :]


class MultiHeadAttention(nn.Module):
    """Several heads through `F.multi_head_attention_forward`, with lesson 2's names: W_Q, W_K, W_V, W_O, num_heads."""

    def __init__(self, d_model: int, num_heads: int, d_context: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model = {d_model} is no multiple of num_heads = {num_heads}")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(
        self, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """tokens (..., T, d_model), context (..., S, d_context) or None, mask bool broadcastable to (..., T, S)
        → output (..., T, d_model), weights (..., num_heads, T, S) before dropout."""
        context = tokens if context is None else context
        lead, T, S = tokens.shape[:-2], tokens.shape[-2], context.shape[-2]
        query = tokens.reshape(-1, T, tokens.shape[-1]).transpose(0, 1)  # PyTorch's own order: (T, B, d_model)
        key = context.reshape(-1, S, context.shape[-1]).transpose(0, 1)
        nowhere = forbidden = None
        if mask is not None:
            mask = mask.expand(T, S) if mask.ndim <= 2 else mask.expand(*lead, T, S)
            nowhere = ~mask.any(-1)  # PyTorch answers NaN there; we let such a query look anywhere, then say zero
            forbidden = ~(mask | nowhere.unsqueeze(-1))  # in this function True means the opposite: may not attend
            if forbidden.ndim > 2:
                forbidden = forbidden.reshape(-1, T, S).repeat_interleave(self.num_heads, 0)

        def attend(dropout: float) -> tuple[Tensor, Tensor]:
            return F.multi_head_attention_forward(
                query,
                key,
                key,
                query.shape[-1],
                self.num_heads,
                in_proj_weight=None,
                in_proj_bias=None,
                bias_k=None,
                bias_v=None,
                add_zero_attn=False,
                dropout_p=dropout,
                out_proj_weight=self.W_O.weight,
                out_proj_bias=None,
                attn_mask=forbidden,
                average_attn_weights=False,
                use_separate_proj_weight=True,
                q_proj_weight=self.W_Q.weight,
                k_proj_weight=self.W_K.weight,
                v_proj_weight=self.W_V.weight,
            )

        output, weights = attend(0.0)
        if self.training and self.dropout:
            output, _ = attend(self.dropout)
        output = output.transpose(0, 1).reshape(*lead, T, -1)
        weights = weights.reshape(*lead, self.num_heads, T, S)
        if nowhere is not None:
            output = output.masked_fill(nowhere.unsqueeze(-1), 0.0)
            weights = weights.masked_fill(nowhere.unsqueeze(-2).unsqueeze(-1), 0.0)
        return output, weights
