"""Attention with several heads.

Vaswani et al. 2017, section 3.2.2: https://arxiv.org/abs/1706.03762
Axes: H heads, T tokens that ask, S tokens that answer.
"""

from math import sqrt

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention.alignment import TokenAligner
from attention.heads import merge_heads, split_heads


class MultiHeadAttention(nn.Module):
    """Every head asks its own question; W_O joins the answers.

    W_Q (d_model → d_model), W_K and W_V (d_context → d_model) and W_O (d_model → d_model), without bias, are the
    only parameters. Without a context the tokens look at themselves.

    Raises:
        ValueError: d_model is no multiple of num_heads.
    """

    def __init__(self, d_model: int, num_heads: int, d_context: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model = {d_model} is no multiple of num_heads = {num_heads}")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.dropout = dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(
        self, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None, *, need_weights: bool = True
    ) -> tuple[Tensor, Tensor | None]:
        """Let the tokens attend to the context, or to themselves.

        Args:
            tokens: (..., T, d_model)
            context: (..., S, d_context), or None for self-attention.
            mask: bool, broadcastable to (..., T, S), the same for every head; True = may attend.
            need_weights: False goes through PyTorch's fused kernel, which never writes the weights to memory.

        Returns:
            output (..., T, d_model), weights (..., H, T, S) before dropout, or None where they are not needed.
        """
        context = tokens if context is None else context
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        mask, nowhere = _for_all_heads(mask)
        dropout = self.dropout if self.training else 0.0
        if need_weights:
            weights = _weights(query, key, mask)
            weights = weights if nowhere is None else weights.masked_fill(nowhere, 0.0)
            heads = F.dropout(weights, dropout) @ value if dropout else weights @ value
        else:
            weights = None
            heads = F.scaled_dot_product_attention(query, key, value, mask, dropout)
            heads = heads if nowhere is None else heads.masked_fill(nowhere, 0.0)
        return self.W_O(merge_heads(heads)), weights


def _for_all_heads(mask: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    """Return the mask with an axis for the heads, and which queries may attend nowhere (..., T, 1).

    The second is None if there are none.

    Such a query is let look anywhere, so that its softmax is no 0/0 and its gradients are finite; what it brings
    back is set to zero afterwards.
    """
    if mask is None:
        return None, None
    mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
    somewhere = mask.any(-1, keepdim=True)
    return (mask, None) if somewhere.all() else (mask | ~somewhere, ~somewhere)


def _weights(query: Tensor, key: Tensor, mask: Tensor | None) -> Tensor:
    """Compute softmax(QKᵀ / √d_head) where the mask allows, with two tensors of n² numbers."""
    scores = (query / sqrt(query.shape[-1])) @ key.transpose(-2, -1)
    if mask is not None:
        bias = torch.where(mask, 0.0, -torch.inf).to(scores.dtype)
        scores += bias  # in place: no gradient needs the scores
    return torch.softmax(scores, dim=-1)


class AlignedCrossAttention(nn.Module):
    """Image tokens are aligned to the text, then the text looks at them with several heads."""

    def __init__(self, d_vision: int, d_text: int, num_heads: int, align_method: str = "linear") -> None:
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """text (..., T, d_text), image (..., S, d_vision), mask broadcastable to (..., T, S)
        → output (..., T, d_text), weights (..., H, T, S)."""
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
