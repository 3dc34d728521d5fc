# %% [wrong] aligner_arguments_swapped | The aligner is made with (d_text, d_vision): it carries the wrong way, an error where the widths differ.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_text, d_vision, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)

# %% [wrong] always_linear | align_method is not handed on, so every aligner is a linear one.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, context=aligned, mask=mask)

# %% [wrong] aligner_unused | The attention reads the raw image tokens through its d_context; the aligner is made and never used.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, d_context=d_vision)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, image_tokens, mask)

# %% [wrong] image_asks | The aligned image is given as tokens and the text as context: the image asks and the text answers.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = self.aligner(image_tokens)
        output, weights = self.cross_attn(image, text_tokens, mask)
        return output, weights

# %% [wrong] mask_lost | The mask is not handed on to the attention.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner, self.cross_attn = (
            TokenAligner(d_vision, d_text, align_method),
            MultiHeadAttention(d_text, num_heads),
        )

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens))

# %% [wrong] residual_added | Adds the text to the output; only what the attention brings is asked for.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        seen, weights = self.cross_attn(text_tokens, self.aligner(image_tokens), mask=mask)
        return text_tokens + seen, weights

# %% [right] keyword_dictionary | Collects the arguments of the call in a dict, by keyword.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        parts = {
            "aligner": TokenAligner(d_vision=d_vision, d_text=d_text, method=align_method),
            "cross_attn": MultiHeadAttention(d_model=d_text, num_heads=num_heads),
        }
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, text_tokens, image_tokens, mask=None):
        asked = {"tokens": text_tokens, "context": self.aligner(image_tokens), "mask": mask}
        return self.cross_attn(**asked)
