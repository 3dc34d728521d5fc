"""Attention with several heads.

Vaswani et al. 2017, section 3.2.2: https://arxiv.org/abs/1706.03762
Axes: H heads, T tokens that ask, S tokens that answer.
"""

from torch import Tensor, nn

from attention.dot_product import masked_attention


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
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """tokens (..., T, d_model), context (..., S, d_context) or None, mask broadcastable to (..., T, S)
        → output (..., T, d_model), weights (..., H, T, S), those before dropout."""
        context = tokens if context is None else context
        query, key, value = (
            linear(source).unflatten(-1, (self.num_heads, -1)).transpose(-3, -2)
            for linear, source in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))
        )
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)  # one mask for all heads
        output, weights = masked_attention(query, key, value, mask)
        if self.training and self.dropout.p:
            output = self.dropout(weights) @ value
        return self.W_O(output.transpose(-3, -2).flatten(-2)), weights
