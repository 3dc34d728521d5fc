"""Self-attention and cross-attention with one head.

Vaswani et al. 2017, section 3.2: https://arxiv.org/abs/1706.03762
Axes: T text (or any) tokens, S image tokens.
"""

from torch import Tensor, nn

from attention.dot_product import masked_attention


class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer.

    W_Q, W_K and W_V (d_model → d_k, no bias) are the only parameters.
    """

    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """tokens (..., T, d_model), mask broadcastable to (..., T, T) → output (..., T, d_k), weights (..., T, T)."""
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)


class CrossAttention(nn.Module):
    """Text asks, the image answers: queries from the text, keys and values from the image.

    W_Q (d_text → d_k), W_K and W_V (d_image → d_k), without bias, are the only parameters.
    """

    def __init__(self, d_text: int, d_image: int, d_k: int) -> None:
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """text (..., T, d_text), image (..., S, d_image), mask broadcastable to (..., T, S)
        → output (..., T, d_k), weights (..., T, S)."""
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
