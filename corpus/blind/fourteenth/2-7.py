# %% [wrong] aligner_made_and_left_aside | The aligner is never called: the attention gets d_context=d_vision and looks at the image tokens as they came.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, d_context=d_vision)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, image_tokens, mask)

# %% [wrong] mask_turned_around | The mask is negated before it is handed on, as nn.MultiheadAttention would want it; here True means "may attend" on both sides.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        forbidden = None if mask is None else torch.logical_not(mask)
        return self.cross_attn(text_tokens, context=self.aligner(image_tokens), mask=forbidden)

# %% [wrong] text_added_to_what_it_saw | The text tokens are added to the output, a residual that nobody asked for.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        seen, weights = self.cross_attn(text_tokens, aligned, mask)
        return text_tokens + seen, weights
