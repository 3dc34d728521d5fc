# %% [wrong] method_not_handed_on | align_method is not given to the aligner, which stays linear whatever was asked for
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)

# %% [wrong] aligned_the_text | the aligner is applied to the text and not to the image tokens; the widths do not fit, or where they do, the image goes in unaligned
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        words = self.aligner(text_tokens)
        return self.cross_attn(words, image_tokens, mask)

# %% [wrong] image_asks_text | the aligned image is handed in as the tokens and the text as the context, so the output is as long as the image
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        patches = self.aligner(image_tokens)
        output, weights = self.cross_attn(patches, text_tokens, mask=mask)
        return output, weights

# %% [wrong] mask_lost | the mask is accepted and not handed on, so words look at patches that are hidden
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, context=self.aligner(image_tokens))

# %% [wrong] residual_added | forward adds the text tokens to the output; what is asked is the output of the attention alone
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        looked, weights = self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
        return text_tokens + looked, weights

# %% [wrong] context_as_wide_as_image | cross_attn is made with d_context=d_vision, but its context is already d_text wide after the aligner: an error where the two widths differ
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, d_context=d_vision)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)

# %% [right] keyword_call | everything goes by keyword, so that no argument can slip into another's place
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.cross_attn = MultiHeadAttention(d_model=d_text, num_heads=num_heads)
        self.aligner = TokenAligner(d_vision=d_vision, d_text=d_text, method=align_method)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(tokens=text_tokens, context=self.aligner(image_tokens), mask=mask)
