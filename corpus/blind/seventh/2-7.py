# %% [wrong] always_four_heads | The attention is made with 4 heads whatever num_heads says, so another number of heads gives maps of the wrong shape; num_heads must be handed on.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, 4)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)

# %% [wrong] mask_turned_round | The mask is inverted on the way, as nn.MultiheadAttention would want it; here True means may attend, so the words look exactly at the hidden patches.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = self.aligner(image_tokens)
        hidden = None if mask is None else ~mask
        return self.cross_attn(text_tokens, image, mask=hidden)

# %% [wrong] aligner_without_gradient | The aligner runs under torch.no_grad() as if it were trained already, so it gets no gradient and stays random.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        with torch.no_grad():  # alignment happens before
            context = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, context, mask)

# %% [wrong] text_added_to_the_output | The text is added to what the attention returns (a residual); the task asks for the output of the attention alone.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        seen, weights = self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
        return text_tokens + seen, weights

# %% [wrong] context_as_wide_as_vision | The attention is made for a context of width d_vision, but it gets the aligned tokens of width d_text; an error wherever the widths differ. It should be MultiHeadAttention(d_text, num_heads).
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, d_context=d_vision)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)

# %% [wrong] method_not_handed_on | The aligner is made without align_method, so it is always the linear one, and "mlp" or "identity" have no effect.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.align_method = align_method
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)

# %% [right] all_by_keyword | every argument is handed on by its name, and the pair is unpacked and named before it is returned
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision=d_vision, d_text=d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_model=d_text, num_heads=num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = self.cross_attn(tokens=text_tokens, context=self.aligner(image_tokens), mask=mask)
        return output, weights
