"""A small vision-language model: encode, align, cross-attend, predict the next word.

A pre-norm decoder block (Vaswani et al. 2017, section 3.1; pre-norm: Xiong et al. 2020,
https://arxiv.org/abs/2002.04745) in which some blocks also look at the image, as in Flamingo
(Alayrac et al. 2022, https://arxiv.org/abs/2204.14198), but without its gates.
Axes: T text tokens, S image tokens.
"""

from collections.abc import Collection

from torch import Tensor, nn

from attention.masks import causal_mask
from attention.multi_head import MultiHeadAttention
from attention.positions import PositionEmbedding


class VisionLanguageBlock(nn.Module):
    """Text looks at itself, then at the image, then each token thinks for itself; each step is added on.

    Pre-norm: what a step reads is normalised, what flows past it is not. Image tokens are taken as they come.
    With cross=False there is no look at the image: `cross_attn` and `norm2` are None.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(
        self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Run one block.

        Args:
            text_tokens: (..., T, d_model)
            image_tokens: (..., S, d_model); may be None with cross=False.
            mask: bool, broadcastable to (..., T, T), of the self-attention; True = may attend.

        Returns:
            tokens (..., T, d_model), cross-attention weights (..., H, T, S) or None.
        """
        tokens = text_tokens
        tokens = tokens + self.self_attn(self.norm1(tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + seen
        return tokens + self.ffn(self.norm3(tokens)), weights


class MiniVLM(nn.Module):
    """Patches and a prompt in, a score for every possible next word out.

    The image is aligned to the width of the text by a two-layer projection, as in LLaVA-1.5 (Liu et al. 2023,
    https://arxiv.org/abs/2310.03744). Blocks in `cross_layers` look at it; by default the last one does.
    """

    def __init__(
        self,
        d_vision: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        vocab_size: int,
        max_tokens: int,
        num_patches: int,
        cross_layers: Collection[int] | None = None,
    ) -> None:
        super().__init__()
        cross = {num_layers - 1} if cross_layers is None else set(cross_layers)
        self.aligner = nn.Sequential(nn.Linear(d_vision, d_model), nn.GELU(), nn.Linear(d_model, d_model))
        self.image_positions = PositionEmbedding(num_patches, d_model)
        self.image_norm = nn.LayerNorm(d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.text_positions = PositionEmbedding(max_tokens, d_model)
        self.blocks = nn.ModuleList(
            VisionLanguageBlock(d_model, num_heads, d_ff, cross=layer in cross) for layer in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, token_ids: Tensor, image_patches: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the scores of the next word at every position; position t sees words 0…t and the whole image.

        Args:
            token_ids: (..., T) integers, T ≤ max_tokens.
            image_patches: (..., num_patches, d_vision)

        Returns:
            logits (..., T, vocab_size), cross-attention weights (..., H, T, S), one for each block that looks.
        """
        image_tokens = self.image_norm(self.image_positions(self.aligner(image_patches)))
        tokens = self.text_positions(self.embedding(token_ids))
        mask = causal_mask(token_ids.shape[-1], token_ids.device)
        maps = []
        for block in self.blocks:
            tokens, weights = block(tokens, image_tokens, mask)
            if weights is not None:
                maps.append(weights)
        return self.head(self.norm(tokens)), maps
