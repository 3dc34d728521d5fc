# %% [wrong] the_image_is_normalised_too | Puts the image tokens through norm2 as well. They are to be taken as they come; only the text is normalised before it asks.
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
            seen, weights = self.cross_attn(self.norm2(x), self.norm2(image_tokens))
            x = x + seen
        x = x + self.ffn(self.norm3(x))
        return x, weights


# %% [wrong] a_norm_without_its_step | Makes norm2 also with cross=False, where it should be None. Its numbers are parameters that nothing uses.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = None
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        update, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        tokens = text_tokens + update
        weights = None
        if self.cross_attn:
            update, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + update
        return tokens + self.ffn(self.norm3(tokens)), weights


# %% [wrong] all_steps_read_the_input | The three steps all read the tokens that came in and are added together at the end (a parallel block, as in GPT-J). Each step should read what the one before it has left.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.cross_attn, self.norm2 = None, None
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
            self.norm2 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        a, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        c, weights = 0, None
        if self.cross_attn is not None:
            c, weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
        f = self.ffn(self.norm3(text_tokens))
        return text_tokens + a + c + f, weights


# %% [wrong] weights_of_the_self_attention | Returns the weights of the self-attention and throws those of the cross-attention away. The tokens are right; the map is (num_heads, T, T), and without cross-attention it is there although it should be None.
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
        attended, weights = self.self_attn(self.norm1(text_tokens), mask=mask)
        text_tokens = text_tokens + attended
        if self.cross_attn is not None:
            text_tokens = text_tokens + self.cross_attn(self.norm2(text_tokens), image_tokens)[0]
        text_tokens = text_tokens + self.ffn(self.norm3(text_tokens))
        return text_tokens, weights


# %% [wrong] added_to_the_normalised_copy | Overwrites the tokens with their normalised copy and adds the step to that. What is added to must not be normalised: the tokens that came in are lost at the first step.
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
        tokens = self.norm1(text_tokens)
        tokens = tokens + self.self_attn(tokens, mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            tokens = self.norm2(tokens)
            out, weights = self.cross_attn(tokens, image_tokens)
            tokens = tokens + out
        tokens = self.norm3(tokens)
        tokens = tokens + self.ffn(tokens)
        return tokens, weights


# %% [right] a_list_of_steps | The forward goes through a list of pairs of norm and step; every step returns a pair, and the last weights that are kept are those of the cross-attention.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        look = lambda wanted: MultiHeadAttention(d_model, num_heads) if wanted else None
        norm = lambda wanted: nn.LayerNorm(d_model) if wanted else None
        for place, wanted in enumerate((True, cross, True), start=1):
            self.register_module(f"norm{place}", norm(wanted))
        self.register_module("self_attn", look(True))
        self.register_module("cross_attn", look(cross))
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        steps = [
            (self.norm1, lambda x: (self.self_attn(x, mask=mask)[0], None)),
            (self.norm2, lambda x: self.cross_attn(x, context=image_tokens)),
            (self.norm3, lambda x: (self.ffn(x), None)),
        ]
        maps = []
        for norm, step in steps:
            if norm is None:
                maps.append(None)
                continue
            written, map_ = step(norm(text_tokens))
            text_tokens = text_tokens + written
            maps.append(map_)
        return text_tokens, maps[1]
