# %% [right] delta_helper | right
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
        weights = None
        read = self.self_attn(tokens=self.norm1(text_tokens), mask=mask)[0]
        after_reading = torch.add(text_tokens, read)
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(tokens=self.norm2(after_reading), context=image_tokens)
            after_looking = torch.add(after_reading, seen)
        else:
            after_looking = after_reading
        thought = self.ffn(self.norm3(after_looking))
        return torch.add(after_looking, thought), weights

# %% [wrong] post_norm | The norms stand after the additions (post-norm) instead of before each step.
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
        out, _ = self.self_attn(text_tokens, mask=mask)
        x = self.norm1(text_tokens + out)
        weights = None
        if self.cross_attn is not None:
            out, weights = self.cross_attn(x, image_tokens)
            x = self.norm2(x + out)
        x = self.norm3(x + self.ffn(x))
        return x, weights

# %% [wrong] residual_from_normed | The normalised copy overwrites the tokens, so what is added to is normalised too.
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
        x = self.norm1(text_tokens)
        x = x + self.self_attn(x, mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            x = self.norm2(x)
            looked, weights = self.cross_attn(x, image_tokens)
            x = x + looked
        x = self.norm3(x)
        x = x + self.ffn(x)
        return x, weights

# %% [wrong] image_normed | norm2 is applied to the image tokens as well, which should be taken as they come.
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
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(x), self.norm2(image_tokens))
            x = x + seen
        return x + self.ffn(self.norm3(x)), weights

# %% [wrong] mask_positional | The mask is passed as the second positional argument of the self-attention, where the context belongs.
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

# %% [wrong] cross_reads_old_tokens | The cross-attention asks with the tokens that came into the block, not with those after the self-attention.
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
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            x = x + seen
        x = x + self.ffn(self.norm3(x))
        return x, weights

# %% [wrong] ffn_no_residual | The feed-forward step replaces the tokens; its residual is missing.
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
        x = x + self.self_attn(self.norm1(x), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            out, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + out
        x = self.ffn(self.norm3(x))
        return x, weights

# %% [wrong] self_weights_returned | The returned weights are those of the self-attention: one variable is used for both and the cross-attention's are thrown away.
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
        out, weights = self.self_attn(self.norm1(x), mask=mask)
        x = x + out
        if self.cross_attn is not None:
            out, _ = self.cross_attn(self.norm2(x), image_tokens)
            x = x + out
        x = x + self.ffn(self.norm3(x))
        return x, weights

# %% [wrong] norm_reused | The feed-forward reads norm2 of the tokens when there is cross-attention; norm3 is only used without it.
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
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        if self.cross_attn is None:
            return x + self.ffn(self.norm3(x)), None
        out, weights = self.cross_attn(self.norm2(x), image_tokens)
        x = x + out
        x = x + self.ffn(self.norm2(x))
        return x, weights

# %% [wrong] cross_always_built | cross=False still builds cross_attn and norm2 (it only skips the step), so they are not None and count as parameters.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.cross = cross
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross:
            out, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + out
        return x + self.ffn(self.norm3(x)), weights
