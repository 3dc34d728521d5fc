# %% [wrong] residual_from_the_normed_copy | The variable is overwritten by its normalised copy, and the step is added to that. The tokens themselves are lost at every step; a step should be added to tokens that are not normalised.
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
        x = x + self.ffn(x)
        return x, weights

# %% [wrong] norm2_before_the_feed_forward | The line was copied and norm2 stayed in it: the feed-forward reads norm2 where it should read norm3, and norm3 is never used. With cross=False norm2 is None, and calling it fails.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm2 = self.cross_attn = None
        if cross:
            self.norm2 = nn.LayerNorm(d_model)
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens, weights = text_tokens, None
        out, _ = self.self_attn(self.norm1(tokens), mask=mask)
        tokens = tokens + out
        if self.cross_attn is not None:
            out, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + out
        tokens = tokens + self.ffn(self.norm2(tokens))
        return tokens, weights

# %% [wrong] three_steps_side_by_side | All three steps read the tokens that came in, and their results are added at the end (a parallel block). Each step should read what the one before it has left.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None

    def forward(self, text_tokens, image_tokens, mask=None):
        update = self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            look, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            update = update + look
        update = update + self.ffn(self.norm3(text_tokens))
        return text_tokens + update, weights

# %% [wrong] one_norm_under_three_names | The three norms are set in one chained assignment and are one and the same LayerNorm, so they share scale and shift. They should be three modules.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.norm1 = self.norm2 = self.norm3 = nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
        else:
            self.cross_attn = None
            self.norm2 = None

    def forward(self, text_tokens, image_tokens, mask=None):
        x = text_tokens
        x = x + self.self_attn(self.norm1(x), mask=mask)[0]
        cross_weights = None
        if self.cross_attn is not None:
            attended, cross_weights = self.cross_attn(self.norm2(x), image_tokens)
            x = x + attended
        return x + self.ffn(self.norm3(x)), cross_weights

# %% [wrong] norm2_without_cross_attention | With cross=False the second step is left out, but norm2 is still made: its parameters are never used and get no gradient. It should be None, like cross_attn.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, cross=True):
        super().__init__()
        self.cross = cross
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(
            nn.Linear(d_model, d_ff),
            nn.GELU(),
            nn.Linear(d_ff, d_model),
        )
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens, image_tokens, mask=None):
        h, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        x = text_tokens + h
        w = None
        if self.cross:
            h, w = self.cross_attn(self.norm2(x), image_tokens)
            x = x + h
        x = x + self.ffn(self.norm3(x))
        return x, w

# %% [right] steps_as_a_generator | The steps come one after the other from a generator that remembers the cross-attention weights; a single line adds each of them.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        wide, narrow = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(wide, nn.GELU(), narrow)
        for number in (1, 2, 3):
            setattr(self, f"norm{number}", None if number == 2 and not cross else nn.LayerNorm(d_model))

    def _steps(self, image_tokens, mask, seen):
        yield self.norm1, lambda x: self.self_attn(x, None, mask)[0]
        if self.cross_attn is not None:

            def look(x):
                output, weights = self.cross_attn(x, image_tokens)
                seen.append(weights)
                return output

            yield self.norm2, look
        yield self.norm3, self.ffn

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        seen: list[Tensor | None] = [None]
        for norm, step in self._steps(image_tokens, mask, seen):
            text_tokens = text_tokens + step(norm(text_tokens))
        return text_tokens, seen[-1]
