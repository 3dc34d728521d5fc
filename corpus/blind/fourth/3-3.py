# %% [wrong] normalised_residual | The tokens themselves are replaced by their normalised copy, and the step is added to that: what is added to must not be normalised.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
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
            seen, weights = self.cross_attn(x, image_tokens)
            x = x + seen
        x = self.norm3(x)
        return x + self.ffn(x), weights


# %% [wrong] post_norm | Normalises after the addition, as the original transformer did; asked for is pre-norm.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.cross = cross
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def forward(self, text_tokens, image_tokens, mask=None):
        attended, _ = self.self_attn(text_tokens, mask=mask)
        tokens = self.norm1(text_tokens + attended)
        weights = None
        if self.cross:
            looked, weights = self.cross_attn(tokens, image_tokens)
            tokens = self.norm2(tokens + looked)
        tokens = self.norm3(tokens + self.ffn(tokens))
        return tokens, weights


# %% [wrong] causal_mask_over_the_image | The mask of the words is handed to the cross-attention too: an error where T and S differ, and hidden patches where they agree.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.cross_attn = self.norm2 = None
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
            self.norm2 = nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens, mask=None):
        tokens, weights = text_tokens, None
        tokens = tokens + self.self_attn(self.norm1(tokens), mask=mask)[0]
        if self.cross_attn is not None:
            out, weights = self.cross_attn(self.norm2(tokens), image_tokens, mask)
            tokens = tokens + out
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, weights


# %% [wrong] parts_stay_without_cross | With `cross=False` the second step is skipped, but `.cross_attn` and `.norm2` are layers and not None: parameters that nobody uses.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.cross = cross
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens
        x = x + self.self_attn(self.norm1(x), mask=mask)[0]
        w = None
        if self.cross:
            y, w = self.cross_attn(self.norm2(x), image_tokens)
            x = x + y
        x = x + self.ffn(self.norm3(x))
        return x, w


# %% [wrong] mask_as_context | The mask stands in the second place of the self-attention's call, which is the context.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens, mask=None):
        normed = self.norm1(text_tokens)
        tokens = text_tokens + self.self_attn(normed, mask)[0]
        if self.cross_attn is None:
            return tokens + self.ffn(self.norm3(tokens)), None
        seen, weights = self.cross_attn(self.norm2(tokens), image_tokens)
        tokens = tokens + seen
        return tokens + self.ffn(self.norm3(tokens)), weights


# %% [wrong] image_normalised_too | The image tokens go through norm2 as well; they are to be taken as they come.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens, mask=None):
        h = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            update, weights = self.cross_attn(self.norm2(h), self.norm2(image_tokens))
            h = h + update
        return h + self.ffn(self.norm3(h)), weights


# %% [right] steps_as_updates | A helper returns each step's update and its weights; the tokens are the sum of the updates, added in place of reassigning by hand.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        make = lambda: MultiHeadAttention(d_model, num_heads)
        self.self_attn, self.norm1 = make(), nn.LayerNorm(d_model)
        self.cross_attn, self.norm2 = (make(), nn.LayerNorm(d_model)) if cross else (None, None)
        middle = [nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)]
        self.ffn, self.norm3 = nn.Sequential(*middle), nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens, mask=None):
        looks = None

        def look(words):
            nonlocal looks
            seen, looks = self.cross_attn(words, image_tokens)
            return seen

        steps = [(self.norm1, lambda words: self.self_attn(words, None, mask)[0]), (self.norm3, self.ffn)]
        if self.cross_attn is not None:
            steps.insert(1, (self.norm2, look))
        tokens = text_tokens
        for norm, step in steps:
            tokens = torch.add(tokens, step(norm(tokens)))
        return tokens, looks
