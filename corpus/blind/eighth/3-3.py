# %% [wrong] added_to_what_is_normalised | The tokens are replaced by their norm before each step, and the step is added to that; it should be added to the tokens before the norm. Every step rubs out the page.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        weights = None
        x = self.norm1(text_tokens)
        x = x + self.self_attn(x, mask=mask)[0]
        if self.cross_attn is not None:
            x = self.norm2(x)
            seen, weights = self.cross_attn(x, image_tokens)
            x = x + seen
        x = self.norm3(x)
        return x + self.ffn(x), weights

# %% [wrong] mask_in_the_place_of_the_context | self_attn(x, mask) hands the mask on in second place, which is the context; it should be mask=mask. The words look at the rows of the mask, which ends in an error of shapes or types.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm2, self.cross_attn = None, None
        if cross:
            self.norm2 = nn.LayerNorm(d_model)
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens, weights = text_tokens, None
        read, _ = self.self_attn(self.norm1(tokens), mask)
        tokens = tokens + read
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + seen
        return tokens + self.ffn(self.norm3(tokens)), weights

# %% [wrong] a_norm_for_nothing | norm2 is made even with cross=False; it should be None there. The block has 2 · d_model parameters that nothing uses.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        weights = None
        text_tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        if self.cross_attn:
            seen, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            text_tokens = text_tokens + seen
        text_tokens = text_tokens + self.ffn(self.norm3(text_tokens))
        return text_tokens, weights

# %% [wrong] image_normalised_as_well | The image tokens go through norm2, too; they should be taken as they come. Keys and values, and so the weights, are others.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.cross = cross
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        if not self.cross:
            return x + self.ffn(self.norm3(x)), None
        seen, weights = self.cross_attn(self.norm2(x), self.norm2(image_tokens))
        x = x + seen
        return x + self.ffn(self.norm3(x)), weights

# %% [wrong] words_maps_for_image_maps | Without cross-attention the weights of the self-attention are returned; it should be None, for one name holds both. The model then takes a map over words for one over the image.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        update, weights = self.self_attn(self.norm1(text_tokens), mask=mask)
        tokens = text_tokens + update
        if self.cross_attn is not None:
            update, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + update
        return tokens + self.ffn(self.norm3(tokens)), weights

# %% [wrong] all_steps_side_by_side | All three steps read the tokens that came in, and their sum is added; each step should read what the step before has made. The look at the image does not know what was read.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        weights = None
        updates = [self.self_attn(self.norm1(text_tokens), mask=mask)[0], self.ffn(self.norm3(text_tokens))]
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            updates.append(seen)
        return text_tokens + sum(updates), weights

# %% [right] a_method_for_each_step | Each of the three steps is a small method that returns what is to be added; forward only adds.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def _read(self, tokens: Tensor, mask: Tensor | None) -> Tensor:
        return self.self_attn(self.norm1(tokens), mask=mask)[0]

    def _look(self, tokens: Tensor, image_tokens: Tensor | None):
        if self.cross_attn is None:
            return 0.0, None
        return self.cross_attn(self.norm2(tokens), image_tokens)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = text_tokens + self._read(text_tokens, mask)
        seen, weights = self._look(tokens, image_tokens)
        tokens = tokens + seen
        return tokens + self.ffn(self.norm3(tokens)), weights
