# %% [wrong] post_norm | The norms stand behind the additions, norm(x + step(x)), as in the first transformer; the block is pre-norm: x + step(norm(x))
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
        x = self.norm1(x + self.self_attn(x, mask=mask)[0])
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(x, image_tokens)
            x = self.norm2(x + seen)
        return self.norm3(x + self.ffn(x)), weights

# %% [wrong] residual_of_the_norm | x is overwritten by its normalised copy, so the residual adds to the normalised tokens and not to the tokens themselves
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = self.norm1(text_tokens)
        x = x + self.self_attn(x, mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            x = self.norm2(x)
            out, weights = self.cross_attn(x, image_tokens)
            x = x + out
        x = self.norm3(x)
        return x + self.ffn(x), weights

# %% [wrong] mask_as_context | The mask is handed to self_attn as second positional argument, where the context stands: it attends to the bool mask as if to tokens and raises an error, and nothing is masked
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = text_tokens
        attended, _ = self.self_attn(self.norm1(tokens), mask)
        tokens = tokens + attended
        weights = None
        if self.cross_attn is not None:
            looked_at, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + looked_at
        return tokens + self.ffn(self.norm3(tokens)), weights

# %% [wrong] all_from_the_input | The three steps all read and are added to the tokens that came in (in parallel), not each to the result of the one before: what a word has read never reaches its look
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        added, weights = [self.self_attn(self.norm1(text_tokens), mask=mask)[0]], None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            added.append(seen)
        added.append(self.ffn(self.norm3(text_tokens)))
        return text_tokens + sum(added), weights

# %% [wrong] image_normalised | The image tokens go through norm2 as well, although they are to be taken as they come
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        text = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        if self.cross_attn is None:
            return text + self.ffn(self.norm3(text)), None
        seen, weights = self.cross_attn(self.norm2(text), self.norm2(image_tokens))
        text = text + seen
        return text + self.ffn(self.norm3(text)), weights

# %% [wrong] norm2_always | norm2 is made with cross=False as well, where it must be None: the block without cross-attention has 2 · d_model parameters too many
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        h = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn:
            seen, weights = self.cross_attn(self.norm2(h), image_tokens)
            h = h + seen
        return h + self.ffn(self.norm3(h)), weights

# %% [right] early_out | the look is a method of its own that returns what to add
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def _look(self, tokens: Tensor, image_tokens: Tensor | None):
        if self.cross_attn is None:
            return torch.zeros_like(tokens), None
        return self.cross_attn(self.norm2(tokens), image_tokens)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        read, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        tokens = text_tokens + read
        seen, weights = self._look(tokens, image_tokens)
        tokens = tokens + seen
        return tokens + self.ffn(self.norm3(tokens)), weights
