"""A few learned queries that look at the image first, so that the text only sees their summary.

As in BLIP-2's Q-Former (Li et al. 2023, section 3.1: https://arxiv.org/abs/2301.12597), here with one cross-attention.
Axes: S image tokens, K learned queries.
"""

from torch import Tensor, nn

from attention.builtin import MultiHeadAttention


class ImageSummary(nn.Module):
    """Image tokens (..., S, d_model) → K tokens (..., K, d_model), whatever will be asked."""

    def __init__(self, num_queries: int, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.query_embedding = nn.Embedding(num_queries, d_model)
        self.norm_before = nn.LayerNorm(d_model)
        self.look = MultiHeadAttention(d_model, num_heads)
        self.norm_after = nn.LayerNorm(d_model)

    def forward(self, image_tokens: Tensor) -> Tensor:
        queries = self.query_embedding.weight.expand(*image_tokens.shape[:-2], -1, -1)
        summary, _ = self.look(queries, self.norm_before(image_tokens))
        return self.norm_after(summary)
