# %% [wrong] post_norm | the norm comes after the addition (post-norm, as in the original Transformer); the step should read a normalised copy and the sum stay as it is
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = self.norm1(text_tokens + self.self_attn(text_tokens, mask=mask)[0])
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(x, image_tokens)
            x = self.norm2(x + seen)
        return self.norm3(x + self.ffn(x)), weights

# %% [wrong] normalised_residual | the tokens are overwritten by their normalised form first, so the residual adds to norm(x) and not to x
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.cross_attn = self.norm2 = None
        if cross:
            self.cross_attn, self.norm2 = MultiHeadAttention(d_model, num_heads), nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        weights = None
        x = self.norm1(text_tokens)
        x = x + self.self_attn(x, mask=mask)[0]
        if self.cross_attn is not None:
            x = self.norm2(x)
            out, weights = self.cross_attn(x, image_tokens)
            x = x + out
        x = self.norm3(x)
        return x + self.ffn(x), weights

# %% [wrong] mask_in_the_wrong_call | the mask goes to the cross-attention and not to the self-attention: words see the words to come, and (T, T) does not fit T × S patches
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
        tokens = text_tokens
        tokens = tokens + self.self_attn(self.norm1(tokens))[0]
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(tokens), image_tokens, mask)
            tokens = tokens + seen
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, weights

# %% [wrong] cross_kept_without | with cross=False the block still makes cross_attn and norm2 and only skips them; both should be None (too many parameters)
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.cross = cross
        self.self_attn, self.cross_attn = (MultiHeadAttention(d_model, num_heads) for _ in range(2))
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross:
            added, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + added
        return tokens + self.ffn(self.norm3(tokens)), weights

# %% [wrong] image_normed_too | the image tokens are put through norm2 as well; they should be taken as they come
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x, weights = text_tokens, None
        x = x + self.self_attn(self.norm1(x), mask=mask)[0]
        if self.cross_attn is not None:
            looked, weights = self.cross_attn(self.norm2(x), self.norm2(image_tokens))
            x = x + looked
        return x + self.ffn(self.norm3(x)), weights

# %% [wrong] steps_side_by_side | all three steps read the tokens that came in, and are added together; each should read what the step before it left
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        t = text_tokens
        read, _ = self.self_attn(self.norm1(t), mask=mask)
        result, weights = t + read, None
        if self.cross_attn is not None:
            looked, weights = self.cross_attn(self.norm2(t), image_tokens)
            result = result + looked
        thought = self.ffn(self.norm3(t))
        return result + thought, weights

# %% [right] early_part_in_a_method | the look at the image stands in a method of its own, which returns zero additions and no weights where there is none
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1, self.self_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.norm2, self.cross_attn = (
            (nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)) if cross else (None, None)
        )
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def _look(self, tokens, image_tokens):
        if self.cross_attn is None:
            return tokens, None
        seen, weights = self.cross_attn(self.norm2(tokens), image_tokens)
        return tokens + seen, weights

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        read, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        tokens, weights = self._look(text_tokens + read, image_tokens)
        return tokens + self.ffn(self.norm3(tokens)), weights
