# %% [wrong] adds_to_the_normed_copy | The normalised copy replaces the tokens, and the step is added to it. The residual should go past the norm: added to the tokens as they were. The tokens come out with their own scale lost at each step.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = self.norm1(text_tokens)
        x = x + self.self_attn(x, mask=mask)[0]
        weights = None
        if self.cross_attn is not None:
            x = self.norm2(x)
            seen, weights = self.cross_attn(x, image_tokens)
            x = x + seen
        x = self.norm3(x)
        return x + self.ffn(x), weights

# %% [wrong] asks_with_the_old_words | The cross-attention reads norm2 of the text as it came in. It should read the tokens after the self-attention. The words ask the image before they have read each other.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.cross_attn = self.norm2 = None
        if cross:
            self.cross_attn = MultiHeadAttention(d_model, num_heads)
            self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        read, _ = self.self_attn(self.norm1(text_tokens), mask=mask)
        tokens = text_tokens + read
        cross_weights = None
        if self.cross_attn:
            looked, cross_weights = self.cross_attn(self.norm2(text_tokens), image_tokens)
            tokens = tokens + looked
        tokens = tokens + self.ffn(self.norm3(tokens))
        return tokens, cross_weights

# %% [wrong] norms_the_image_too | The image tokens go through norm2 as well. They should be taken as they come. Keys and values are made from rescaled patches.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model) if cross else None
        self.norm3 = nn.LayerNorm(d_model)

    def look(self, tokens, image_tokens):
        if self.cross_attn is None:
            return torch.zeros_like(tokens), None
        return self.cross_attn(self.norm2(tokens), self.norm2(image_tokens))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens = text_tokens + self.self_attn(self.norm1(text_tokens), None, mask)[0]
        seen, weights = self.look(tokens, image_tokens)
        tokens = tokens + seen
        return tokens + self.ffn(self.norm3(tokens)), weights

# %% [wrong] mask_in_the_place_of_the_context | The mask is handed over as the second argument of MultiHeadAttention, which is the context. It should be given as mask=mask. With a mask the layer tries to make keys of True and False, and an error comes out.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        for number in (1, 2, 3):
            setattr(self, f"norm{number}", nn.LayerNorm(d_model))
        if not cross:
            self.norm2 = None

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        tokens, weights = text_tokens, None
        step, _ = self.self_attn(self.norm1(tokens), mask)
        tokens = tokens + step
        if self.cross_attn is not None:
            step, weights = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + step
        step = self.ffn(self.norm3(tokens))
        return tokens + step, weights

# %% [wrong] one_norm_under_three_names | One LayerNorm is made and given all three names. Each step should have a norm of its own. They share scale and shift, so what one learns or loads overwrites the others.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.norm1 = self.norm2 = self.norm3 = nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads) if cross else None
        if self.cross_attn is None:
            self.norm2 = None
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        x = text_tokens + self.self_attn(self.norm1(text_tokens), mask=mask)[0]
        w = None
        if self.cross_attn is not None:
            y, w = self.cross_attn(self.norm2(x), image_tokens)
            x = x + y
        return x + self.ffn(self.norm3(x)), w

# %% [wrong] returns_where_words_look_at_words | The weights of the self-attention come back. Those of the cross-attention were asked for, and None without one. The map has a column for each word and not for each patch.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        make_norm = lambda: nn.LayerNorm(d_model)
        make_attn = lambda: MultiHeadAttention(d_model, num_heads)
        self.norm1, self.norm3 = make_norm(), make_norm()
        self.self_attn = make_attn()
        self.norm2, self.cross_attn = (make_norm(), make_attn()) if cross else (None, None)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        delta, weights = self.self_attn(self.norm1(text_tokens), mask=mask)
        tokens = text_tokens + delta
        if self.cross_attn is not None:
            delta, _ = self.cross_attn(self.norm2(tokens), image_tokens)
            tokens = tokens + delta
        return tokens + self.ffn(self.norm3(tokens)), weights

# %% [right] list_of_steps | Collects the steps in a list of functions that each return what to add, and runs them in a loop.
class VisionLanguageBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool = True) -> None:
        super().__init__()
        self.cross = cross
        self.norm1, self.self_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.norm2, self.cross_attn = None, None
        if cross:
            self.norm2, self.cross_attn = nn.LayerNorm(d_model), MultiHeadAttention(d_model, num_heads)
        self.norm3 = nn.LayerNorm(d_model)
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, text_tokens: Tensor, image_tokens: Tensor | None, mask: Tensor | None = None):
        steps = [lambda x: (self.self_attn(self.norm1(x), mask=mask)[0], None)]
        if self.cross:
            steps.append(lambda x: self.cross_attn(self.norm2(x), image_tokens))
        steps.append(lambda x: (self.ffn(self.norm3(x)), None))
        tokens, found = text_tokens, [None]
        for step in steps:
            more, weights = step(tokens)
            tokens = tokens + more
            if weights is not None:
                found = [weights]
        return tokens, found[0]
