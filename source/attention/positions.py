"""Learned positions: attention alone cannot tell the first token from the last.

Gehring et al. 2017, section 3.1: https://arxiv.org/abs/1705.03122
Axes: T tokens, n positions.
"""

import torch
from torch import Tensor, nn


class PositionEmbedding(nn.Module):
    """Adds to each token a vector that belongs to its place.

    `embedding` (n, d_model) is the only parameter.
    """

    def __init__(self, n: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n, d_model))

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (..., T, d_model) with T ≤ n → the same shape; T tokens get the first T positions.

        Raises:
            ValueError: there are more tokens than positions.
        """
        count, n = tokens.shape[-2], len(self.embedding)
        if count > n:
            raise ValueError(f"{count} tokens, but only {n} positions were made")
        return tokens + self.embedding[:count]
