# %% [wrong] only_the_queries_normalised | In the self-attention the bare tokens are handed in as the context, so queries read the normalised copy, and keys and values do not.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens, weights = text_tokens, None
        tokens = tokens + self.self_attn(self.norm1(tokens), tokens, mask)[0]
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + seen
        return tokens + self.ffn(self.norm3(tokens)), weights

# %% [wrong] one_norm_under_three_names | norm1, norm2 and norm3 are one and the same LayerNorm, so they share their learned numbers.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        norm = nn.LayerNorm(d_model)
        self.norm1 = norm
        self.norm2 = norm if cross else None
        self.norm3 = norm
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        read, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        x = text_tokens + read
        weights = None
        if self.cross_attn:
            seen, weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + seen
        x = x + self.ffn(self.norm3(x))
        return x, weights

# %% [wrong] looks_and_thinks_side_by_side | The feed-forward step reads the tokens from before the cross-attention, so it thinks without what was just seen.
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
        tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        thought = self.ffn(self.norm3(tokens))
        if self.cross_attn is None:
            return tokens + thought, None
        seen, weights = self.cross_attn(self.norm2(tokens), image_tokens)
        return tokens + seen + thought, weights
