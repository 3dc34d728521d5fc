# %% [wrong] mask_stays_behind | forward does not hand the mask to the attention, so words look at patches that are hidden
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens))

# %% [wrong] always_linear | align_method is not handed to the aligner, which is always the linear one: "mlp" and "identity" have no effect
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.align_method = align_method
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, context=image, mask=mask)

# %% [wrong] attention_does_the_aligning | The attention is built with d_context=d_vision and gets the raw patches; the aligner is made and never used, and W_K and W_V have the wrong width
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, d_context=d_vision)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, image_tokens, mask)

# %% [wrong] image_asks | The aligned image stands in the place of the tokens and the text is the context: the output is as long as the image, (..., S, d_text)
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        return self.cross_attn(aligned, text_tokens, mask)

# %% [wrong] residual_inside | The text is added to the output (a residual); the layer is to return what the attention brings back, without the tokens
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        seen, weights = self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
        return text_tokens + seen, weights

# %% [wrong] mean_over_heads | The weights are averaged over the heads (as nn.MultiheadAttention does by default), so they are (..., T, S) instead of (..., H, T, S)
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        out, maps = self.cross_attn(text_tokens, self.aligner(image_tokens), mask=mask)
        return out, maps.mean(dim=-3)

# %% [right] keywords | all by keyword, one expression
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.cross_attn = MultiHeadAttention(d_model=d_text, num_heads=num_heads)
        self.aligner = TokenAligner(d_vision=d_vision, d_text=d_text, method=align_method)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(tokens=text_tokens, context=self.aligner(image_tokens), mask=mask)
