"""Three layers that bring an image into a text: concatenation, gated cross-attention, learned queries.

Concatenation: LLaVA (Liu et al. 2023, section 4.1: https://arxiv.org/abs/2304.08485). Gated cross-attention: Flamingo
(Alayrac et al. 2022, section 2.2: https://arxiv.org/abs/2204.14198). Learned queries: BLIP-2's Q-Former (Li et al. 2023,
section 3.1: https://arxiv.org/abs/2301.12597), here one layer of it.
Axes: H heads, T words, S image tokens, K learned queries.
"""

import torch
from torch import Tensor, nn

from attention.multi_head import MultiHeadAttention


class ConcatenatedAttention(nn.Module):
    """The image's tokens stand in front of the words, and one self-attention serves both.

    Image tokens see all image tokens and no word; words see the whole image, and the words that `mask` allows.
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Let image and text attend to each other in one self-attention.

        Args:
            text_tokens: (..., T, d_model)
            image_tokens: (..., S, d_model)
            mask: (T, T) bool, of the words among themselves; True = may attend, None: each sees all.

        Returns:
            tokens (..., S + T, d_model), the image's first; weights (..., H, S + T, S + T).
        """
        S, T = image_tokens.shape[-2], text_tokens.shape[-2]
        allowed = torch.ones(S + T, S + T, dtype=torch.bool, device=text_tokens.device)
        allowed[:S, S:] = False
        if mask is not None:
            allowed[S:, S:] = mask
        return self.self_attn(torch.cat([image_tokens, text_tokens], -2), mask=allowed)


class GatedCrossAttention(nn.Module):
    """The words ask the image, and what comes back is let in by tanh(gate); the gate begins at 0, closed."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        """text (..., T, d_model), image (..., S, d_model) → tokens (..., T, d_model), weights (..., H, T, S)."""
        seen, weights = self.cross_attn(self.norm(text_tokens), image_tokens)
        return text_tokens + torch.tanh(self.gate) * seen, weights


class LearnedQueries(nn.Module):
    """K learned queries ask the image, whatever the question is, and hand on K tokens."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(num_queries, d_model))
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        """image (..., S, d_model) → summary (..., K, d_model), weights (..., H, K, S)."""
        queries = self.queries.expand(*image_tokens.shape[:-2], -1, -1)
        seen, weights = self.cross_attn(queries, image_tokens)
        return self.norm(queries + seen), weights
