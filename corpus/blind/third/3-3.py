# %% [wrong] post_norm | Normalises after the addition (post-norm) in place of a copy before the step.
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
        x = self.norm1(text_tokens + self.self_attn(text_tokens, mask=mask)[0])
        weights = None
        if self.cross_attn is not None:
            seen, weights = self.cross_attn(x, image_tokens)
            x = self.norm2(x + seen)
        return self.norm3(x + self.ffn(x)), weights

# %% [wrong] normalised_residual | Overwrites the tokens by their normalised copy, so it adds to the normalised tokens and not to those that came in.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.cross_attn, self.norm2 = (MultiHeadAttention(d_model, num_heads), nn.LayerNorm(d_model)) if cross else (None, None)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens, weights = self.norm1(text_tokens), None
        tokens = tokens + self.self_attn(tokens, mask=mask)[0]
        if self.cross_attn is not None:
            tokens = self.norm2(tokens)
            output, weights = self.cross_attn(tokens, image_tokens)
            tokens = tokens + output
        tokens = self.norm3(tokens)
        return tokens + self.ffn(tokens), weights

# %% [wrong] mask_to_the_image | Hands the text's mask to the cross-attention as well: the words see only the first patches, or the shapes do not fit.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.cross = cross
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        read, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        x = text_tokens + read
        weights = None
        if self.cross:
            looked_at, weights = self.cross_attn(self.norm2(x), image_tokens, mask=mask)
            x = x + looked_at
        x = x + self.ffn(self.norm3(x))
        return x, weights

# %% [wrong] image_normalised | Puts the image tokens through norm2 as well; they are to be taken as they come.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.cross_attn = self.norm2 = None
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
            self.norm2 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        text_tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            update, weights = self.cross_attn(self.norm2(text_tokens), self.norm2(image_tokens))
            text_tokens = text_tokens + update
        return text_tokens + self.ffn(self.norm3(text_tokens)), weights

# %% [wrong] steps_side_by_side | All three steps read the tokens that came in and their outputs are added together; each step should read what the one before has left.
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
        updates = [self.self_attn(self.norm1(x), mask=mask)[0], self.ffn(self.norm3(x))]
        weights = None
        if self.cross_attn is not None:
            output, weights = self.cross_attn(self.norm2(x), image_tokens)
            updates.append(output)
        return x + sum(updates), weights

# %% [wrong] no_mask_in_self_attention | The mask is never used: every word sees the words after it.
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
        normed = self.norm1(text_tokens)
        text_tokens = text_tokens + self.self_attn(normed, normed)[0]
        weights = None
        if self.cross_attn:
            output, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            text_tokens = text_tokens + output
        text_tokens = text_tokens + self.ffn(self.norm3(text_tokens))
        return text_tokens, weights

# %% [right] list_of_steps | Collects the steps as pairs of norm and function, and adds them in a loop.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        names = ["norm1", "norm3"] + ["norm2"] * cross
        for name in ("norm1", "norm2", "norm3"):
            self.register_module(name, nn.LayerNorm(d_model) if name in names else None)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.register_module("cross_attn", MultiHeadAttention(d_model, num_heads) if cross else None)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        steps = [(self.norm1, lambda x: self.self_attn(x, None, mask))]
        if self.cross_attn is not None:
            steps.append((self.norm2, lambda x: self.cross_attn(x, image_tokens)))
        steps.append((self.norm3, lambda x: (self.ffn(x), None)))
        maps = []
        for norm, step in steps:
            update, weights = step(norm(text_tokens))
            text_tokens = torch.add(text_tokens, update)
            maps.append(weights)
        return text_tokens, maps[1] if self.cross_attn is not None else None
