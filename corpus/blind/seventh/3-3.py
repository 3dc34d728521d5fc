# %% [wrong] mask_as_context | self_attn(x, mask) hands the mask on as the second argument, which is the context; it must be mask=mask. The attention then reads a bool tensor as tokens, and raises an error.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens
        x = x + self.self_attn(self.norm1(x), mask)[0]
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + seen
        x = x + self.ffn(self.norm3(x))
        return x, weights

# %% [wrong] image_normalised_too | The image tokens go through norm2 as well; the task says that they are taken as they come, only the words are normalised.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            looked, weights = self.cross_attn(self.norm2(tokens), self.norm2(image_tokens))
            tokens = tokens + looked
        return tokens + self.ffn(self.norm3(tokens)), weights

# %% [wrong] map_of_the_words | The weights that come back are those of the self-attention, (H, T, T); those of the cross-attention are asked for, and None without it.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        read, weights = self.self_attn(self.norm1(text_tokens), mask=mask)
        tokens = text_tokens + read
        if self.cross_attn is not None:
            seen, _ = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + seen
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, weights

# %% [wrong] three_steps_side_by_side | All three steps read the tokens that came into the block, and their results are added at once; each step should read what the one before it has left.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        update = self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            update = update + seen
        update = update + self.ffn(self.norm3(text_tokens))
        return text_tokens + update, weights

# %% [wrong] added_to_the_normalised_copy | tokens is overwritten by its normalised copy, and the step is added to that; what is added to must not be normalised, else the residual path is lost.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = self.norm1(text_tokens)
        tokens = tokens + self.self_attn(tokens, mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            tokens = self.norm2(tokens)
            seen, weights = self.cross_attn(tokens, image_tokens)
            tokens = tokens + seen
        tokens = self.norm3(tokens)
        tokens = tokens + self.ffn(tokens)
        return tokens, weights

# %% [wrong] a_norm_for_nothing | norm2 is made with cross=False as well, only never used; it should be None there, and the block has parameters that get no gradient.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + seen
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, weights

# %% [right] early_parts_then_a_helper | the look at the image is a method of its own, which gives an update and a map, or zero and None
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def _look(self, tokens, image_tokens):
        if self.cross_attn is None:
            return 0.0, None
        return self.cross_attn(self.norm2(tokens), context=image_tokens)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        read, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        tokens = text_tokens + read
        seen, weights = self._look(tokens, image_tokens)
        tokens = tokens + seen
        return tokens + self.ffn(self.norm3(tokens)), weights
