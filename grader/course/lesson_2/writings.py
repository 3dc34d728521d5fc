"""Other right ways to write lesson 2's exercises, as students write them. Some mistakes are edits of these."""

import math

import torch
from attention.heads import merge_heads, split_heads
from torch import Tensor, nn


def variance_by_pinv(tokens: Tensor, aligned: Tensor) -> Tensor:
    """Return the explained variance, with centred tokens and a readout from the pseudoinverse."""
    tokens = tokens.flatten(0, -2)
    aligned = aligned.flatten(0, -2)
    tokens = tokens - tokens.mean(0)
    aligned = aligned - aligned.mean(0)
    readout = torch.linalg.pinv(aligned) @ tokens
    lost = (tokens - aligned @ readout).square().sum()
    return (1 - lost / tokens.square().sum()).clamp(0, 1)


def variance_by_ones(tokens: Tensor, aligned: Tensor) -> Tensor:
    """Return the explained variance, with a column of ones that gives the readout its intercept."""
    tokens = tokens.flatten(0, -2)
    aligned = aligned.flatten(0, -2)
    design = torch.cat([aligned, torch.ones_like(aligned[:, :1])], -1)
    readout = torch.linalg.pinv(design) @ tokens
    lost = (tokens - design @ readout).square().sum()
    return (1 - lost / (tokens - tokens.mean(0)).square().sum()).clamp(0, 1)


class MultiHeadByHand(nn.Module):
    """Multi-head attention in which scores, mask and softmax are written out."""

    def __init__(self, d_model: int, num_heads: int, d_context: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model is no multiple of num_heads")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(
        self, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the output and the weights of all heads."""
        context = tokens if context is None else context
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        if mask is not None:
            if mask.ndim > 2:
                mask = mask.unsqueeze(-3)
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return self.W_O(merge_heads(self.drop(weights) @ value)), weights
