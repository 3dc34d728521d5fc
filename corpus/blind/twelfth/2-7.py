# %% [wrong] method_left_behind | align_method is accepted but not handed to the aligner, which is always linear
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, aligned, mask)


# %% [wrong] residual_inside | the text is added to the output: the layer returns tokens + output, but asked is the output of the attention alone
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        parts = OrderedDict(
            aligner=TokenAligner(d_vision, d_text, method=align_method),
            cross_attn=MultiHeadAttention(d_text, num_heads),
        )
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, text_tokens, image_tokens, mask=None):
        looked, weights = self.cross_attn(text_tokens, context=self.aligner(image_tokens), mask=mask)
        return text_tokens + looked, weights


# %% [wrong] aligner_never_used | the attention gets a d_context of its own and reads the raw image tokens: the aligner is made and never used, and W_K and W_V have the width d_vision
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, d_context=d_vision)

    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = self.cross_attn(text_tokens, image_tokens, mask=mask)
        return output, weights


# %% [wrong] image_asks | the image is given as the tokens and the text as the context: the image asks and the text answers, the output is as long as the image
class AlignedCrossAttention(nn.Module):
    """Text looks at an image whose tokens were aligned to it."""

    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        query, context = self.aligner(image_tokens), text_tokens
        output, weights = self.cross_attn(tokens=query, context=context, mask=mask)
        return output, weights


# %% [wrong] mask_given_a_head_axis_twice | the mask gets an axis for the heads although MultiHeadAttention adds one itself: masks with a batch no longer broadcast to the weights
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = self.aligner(image_tokens)
        if mask is not None:
            mask = mask.unsqueeze(-3)  # same for every head
        return self.cross_attn(text_tokens, image, mask)


# %% [right] module_dict | the class is a ModuleDict whose entries are the two parts, which ModuleDict also offers as attributes
class AlignedCrossAttention(nn.ModuleDict):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__(
            {
                "aligner": TokenAligner(d_vision, d_text, align_method),
                "cross_attn": MultiHeadAttention(d_text, num_heads),
            }
        )

    def forward(self, text_tokens, image_tokens, mask=None):
        return self["cross_attn"](text_tokens, self["aligner"](image_tokens), mask)
