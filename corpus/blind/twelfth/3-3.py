# %% [wrong] residual_on_the_normalised | the normalised tokens overwrite the tokens, so each step adds to the normalised copy: what came in is rubbed out at every step
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
            looked, weights = self.cross_attn(x, image_tokens)
            x = x + looked
        x = self.norm3(x)
        return x + self.ffn(x), weights


# %% [wrong] steps_in_parallel | all steps read the tokens that came in, and the three updates are added at the end: a step does not see what the one before it wrote
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.norm1, self.self_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.norm2, self.cross_attn = None, None
        if cross:
            self.norm2, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens, image_tokens, mask=None):
        updates = [self.self_attn(self.norm1(text_tokens), mask=mask)[0]]
        weights = None
        if self.cross_attn:
            seen, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            updates.append(seen)
        updates.append(self.ffn(self.norm3(text_tokens)))
        return text_tokens + sum(updates), weights


# %% [wrong] image_normalised_too | norm2 is applied to the image tokens as well; they are to be taken as they come
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.cross_attn = self.norm2 = None
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
            self.norm2 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm3 = nn.LayerNorm(d_model)

    def _look(self, tokens, image_tokens):
        if self.cross_attn is None:
            return 0, None
        return self.cross_attn(self.norm2(tokens), self.norm2(image_tokens))

    def forward(self, text_tokens, image_tokens, mask=None):
        tokens = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        update, weights = self._look(tokens, image_tokens)
        tokens = tokens + update
        return tokens + self.ffn(self.norm3(tokens)), weights


# %% [wrong] norm2_always_there | with cross=False norm2 is still made (it is not None): parameters that nothing uses
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        for i in (1, 2, 3):
            setattr(self, f"norm{i}", nn.LayerNorm(d_model))
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens, image_tokens, mask=None):
        attended, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        tokens = text_tokens + attended
        if self.cross_attn is None:
            weights = None
        else:
            looked, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + looked
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, weights


# %% [wrong] mask_for_both | the mask of the self-attention is given to the cross-attention, too: (T, T) does not fit (T, S), and where it does, the words do not see all of the image
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        make_norm = lambda: nn.LayerNorm(d_model)
        make_attn = lambda: MultiHeadAttention(d_model, num_heads)
        self.norm1, self.self_attn = make_norm(), make_attn()
        self.norm2, self.cross_attn = (make_norm(), make_attn()) if cross else (None, None)
        self.norm3 = make_norm()
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens, image_tokens, mask=None):
        x, weights = text_tokens, None
        for norm, attn, context in (
            (self.norm1, self.self_attn, None),
            (self.norm2, self.cross_attn, image_tokens),
        ):
            if attn is not None:
                update, map_ = attn(norm(x), context, mask)
                x = x + update
                weights = map_ if context is not None else None
        return x + self.ffn(self.norm3(x)), weights


# %% [right] list_of_steps | the steps are a list of (norm, function) pairs that one loop goes through; the weights are caught on the way
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.register_module("cross_attn", MultiHeadAttention(d_model, num_heads) if cross else None)
        self.register_module("norm2", nn.LayerNorm(d_model) if cross else None)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        caught = []

        def look(normed):
            output, weights = self.cross_attn(normed, image_tokens)
            caught.append(weights)
            return output

        steps = [(self.norm1, lambda normed: self.self_attn(normed, mask=mask)[0]), (self.norm3, self.ffn)]
        if self.cross_attn is not None:
            steps.insert(1, (self.norm2, look))
        tokens = text_tokens
        for norm, step in steps:
            tokens = tokens + step(norm(tokens))
        return tokens, caught[0] if caught else None
