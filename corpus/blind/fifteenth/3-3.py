# %% [wrong] residual_from_normalised_copy | The tokens are overwritten by their normalised copy before the addition, so the residual is the normalised copy as well. Only what a step reads is normalised; what its result is added to is not.
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
        output, _ = self.self_attn(x, mask=mask)
        x = x + output

        weights = None
        if self.cross_attn is not None:
            x = self.norm2(x)
            output, weights = self.cross_attn(x, image_tokens)
            x = x + output

        x = self.norm3(x)
        x = x + self.ffn(x)
        return x, weights


# %% [wrong] image_asked_by_the_words_as_they_came | The cross-attention's queries are made from the text tokens that came into the block, before the self-attention. The second step has to read what the first step returned.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.cross_attn, self.norm2 = None, None
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
            self.norm2 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        weights = None
        tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            tokens = tokens + seen
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, weights
