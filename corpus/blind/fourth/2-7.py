# %% [wrong] method_not_handed_on | `align_method` is taken and not handed on: the aligner is always linear.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)


# %% [wrong] mask_left_out | The mask is not handed on to the attention.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        output, weights = self.cross_attn(text_tokens, context=aligned)
        return output, weights


# %% [wrong] widths_swapped | The aligner gets its widths the wrong way round, from d_text to d_vision.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_text, d_vision, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, image, mask)


# %% [wrong] patches_ask | The aligned image asks and the text answers: the output is as long as the image.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(self.aligner(image_tokens), text_tokens, mask)


# %% [wrong] mask_as_context | The mask is handed over in the second place, where the context belongs, and the image in the third.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        keys = self.aligner(image_tokens)
        out, w = self.cross_attn(text_tokens, mask, keys)
        return out, w


# %% [wrong] context_width_in_place_of_aligner | The attention reads the raw image at its own width, with d_context = d_vision: the aligner is there and is never used.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, d_context=d_vision)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, image_tokens, mask)


# %% [right] keyword_partial | Keeps everything by keyword: the arguments of the attention are gathered in a dictionary first.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.add_module("aligner", TokenAligner(d_vision, d_text, align_method))
        self.add_module("cross_attn", MultiHeadAttention(d_text, num_heads))

    def forward(self, text_tokens, image_tokens, mask=None):
        arguments = dict(tokens=text_tokens, mask=mask)
        arguments["context"] = self.aligner(image_tokens)
        return self.cross_attn(**arguments)
