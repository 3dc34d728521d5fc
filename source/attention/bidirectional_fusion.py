"""Fusion in both directions: the text looks at the image, and the image at the text.

As the co-attention of ViLBERT (Lu et al. 2019, section 3.1: https://arxiv.org/abs/1908.02265), but pre-norm.
Axes: T text tokens, S image tokens.
"""

from math import sqrt

import torch
from torch import Tensor, nn

from attention.multi_head import MultiHeadAttention


class ImageTextFusion(nn.Module):
    """What each side learns from the other, at its own width: to be added to it, once, by the caller.

    Both sides are normalised and brought to d_model, look at one another there, and are brought back. Neither sees
    what the other has just learned.
    """

    def __init__(self, d_text: int, d_image: int, d_model: int, num_heads: int = 4) -> None:
        super().__init__()
        self.text_norm, self.image_norm = nn.LayerNorm(d_text), nn.LayerNorm(d_image)
        self.text_in, self.image_in = nn.Linear(d_text, d_model), nn.Linear(d_image, d_model)
        self.text_from_image = MultiHeadAttention(d_model, num_heads)
        self.image_from_text = MultiHeadAttention(d_model, num_heads)
        self.text_out, self.image_out = nn.Linear(d_model, d_text), nn.Linear(d_model, d_image)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        """text (..., T, d_text), image (..., S, d_image) → the updates of both, in the same shapes."""
        text = self.text_in(self.text_norm(text_tokens))
        image = self.image_in(self.image_norm(image_tokens))
        return (
            self.text_out(self.text_from_image(text, image)[0]),
            self.image_out(self.image_from_text(image, text)[0]),
        )


class BidirectionalFusion(nn.Module):
    """Several layers of fusion, each added to what it started from: the one residual there is.

    What a layer adds starts out smaller by √num_layers, so that a deep stack adds no more than a shallow one
    (Radford et al. 2019, section 2.3, scale residual layers so).
    """

    def __init__(self, d_text: int, d_image: int, d_model: int, num_layers: int, num_heads: int = 4) -> None:
        super().__init__()
        self.layers = nn.ModuleList(ImageTextFusion(d_text, d_image, d_model, num_heads) for _ in range(num_layers))
        with torch.no_grad():
            for layer in self.layers:
                for parameter in (*layer.text_out.parameters(), *layer.image_out.parameters()):
                    parameter /= sqrt(num_layers)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor) -> tuple[Tensor, Tensor]:
        """text (..., T, d_text), image (..., S, d_image) → both, in the same shapes."""
        for layer in self.layers:
            text_update, image_update = layer(text_tokens, image_tokens)
            text_tokens, image_tokens = text_tokens + text_update, image_tokens + image_update
        return text_tokens, image_tokens
