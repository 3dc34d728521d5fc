# %% [wrong] residual_of_the_normed | overwrites the tokens with their normalised copy before adding: the residual path itself is normalised, so what came in is not kept
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens, mask=None):
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


# %% [wrong] image_normed_too | puts the image tokens through norm2 before the cross-attention; they should be taken as they come
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn, self.norm1 = MultiHeadAttention(d_model, num_heads), nn.LayerNorm(d_model)
        if cross:
            self.cross_attn, self.norm2 = MultiHeadAttention(d_model, num_heads), nn.LayerNorm(d_model)
        else:
            self.cross_attn = self.norm2 = None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens, mask=None):
        update, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        tokens = text_tokens + update
        weights = None
        if self.cross_attn:
            update, weights = self.cross_attn(self.norm2(tokens), self.norm2(image_tokens))
            tokens = tokens + update
        return tokens + self.ffn(self.norm3(tokens)), weights


# %% [wrong] mask_as_context | hands the mask over as the second positional argument, which is the context: with a mask the self-attention reads a bool table as tokens and raises
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = None
        self.norm2 = None
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
            self.norm2 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens, mask=None):
        weights = None
        tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask)[0]
        if self.cross_attn is not None:
            output, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + output
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, weights


# %% [wrong] all_read_the_input | all three steps read the tokens that came in (in parallel) and their updates are added at the end; each step should read what the one before it made
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        for number in (1, 2, 3):
            setattr(self, f"norm{number}", nn.LayerNorm(d_model) if cross or number != 2 else None)

    def forward(self, text_tokens, image_tokens, mask=None):
        updates = [self.self_attn(self.norm1(text_tokens), mask=mask)[0], self.ffn(self.norm3(text_tokens))]
        weights = None
        if self.cross_attn is not None:
            looked, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            updates.append(looked)
        return text_tokens + sum(updates), weights


# %% [wrong] norm2_stays | with cross=False only the cross-attention is None; norm2 is a LayerNorm all the same, with parameters that nothing uses
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def read(self, tokens, mask):
        return tokens + self.self_attn(self.norm1(tokens), mask=mask)[0]

    def look(self, tokens, image_tokens):
        if self.cross_attn is None:
            return tokens, None
        output, weights = self.cross_attn(self.norm2(tokens), image_tokens)
        return tokens + output, weights

    def think(self, tokens):
        return tokens + self.ffn(self.norm3(tokens))

    def forward(self, text_tokens, image_tokens, mask=None):
        tokens, weights = self.look(self.read(text_tokens, mask), image_tokens)
        return self.think(tokens), weights


# %% [right] list_of_steps | forward builds a list of (norm, step) pairs and goes through it; every step returns a pair, the feed-forward too
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        attend = lambda: MultiHeadAttention(d_model, num_heads)
        self.self_attn = attend()
        self.cross_attn = attend() if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens, mask=None):
        steps = [
            (self.norm1, lambda x: (self.self_attn(x, mask=mask)[0], None)),
            (self.norm2, lambda x: self.cross_attn(x, context=image_tokens)),
            (self.norm3, lambda x: (self.ffn(x), None)),
        ]
        tokens, kept = text_tokens, None
        for norm, step in steps:
            if norm is None:
                continue
            update, weights = step(norm(tokens))
            tokens = tokens + update
            kept = weights if weights is not None else kept
        return tokens, kept
