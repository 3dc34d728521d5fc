# %% [wrong] method_not_handed_on | Forgets to hand align_method on, so the aligner is always linear: "mlp" and "identity" have no effect, and an unknown method raises no error.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)


# %% [wrong] the_image_is_not_handed_over | Aligns the image and then forgets to hand it to the attention as the context. The text looks at itself: the map is (H, T, T), and the image does not matter.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        output, weights = self.cross_attn(text_tokens, mask=mask)
        return output, weights


# %% [wrong] text_added_to_the_output | Adds the text tokens to the output, as a transformer block does. The layer should return what the attention brings back, without a residual.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        context = self.aligner(image_tokens)
        attended, weights = self.cross_attn(text_tokens, context=context, mask=mask)
        return text_tokens + attended, weights


# %% [wrong] aligner_left_out_at_equal_widths | Puts the image through the aligner only where the widths differ. At equal widths the aligner is made and never used, so a linear or two-layer aligner between 32 and 32 does nothing.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.d_text = d_text
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        if image_tokens.shape[-1] != self.d_text:
            image_tokens = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, image_tokens, mask=mask)


# %% [wrong] the_image_asks_the_text | The aligned image asks and the text answers. The output is as long as the image and not as the text, and the map is (H, S, T).
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = self.aligner(image_tokens)
        return self.cross_attn(image, text_tokens, mask=mask)


# %% [right] a_dictionary_of_modules | The layer is itself an nn.ModuleDict with the two parts under their names.
class AlignedCrossAttention(nn.ModuleDict):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        looks = MultiHeadAttention(d_text, num_heads)
        super().__init__({"aligner": TokenAligner(d_vision, d_text, align_method), "cross_attn": looks})

    def forward(self, text_tokens, image_tokens, mask=None):
        answers = dict(context=self["aligner"](image_tokens), mask=mask)
        return self["cross_attn"](text_tokens, **answers)
