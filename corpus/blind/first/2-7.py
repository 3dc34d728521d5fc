# %% [wrong] align_method_ignored | align_method is not handed to the aligner, so it is always a linear one.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, aligned, mask)

# %% [wrong] mask_not_passed | The mask is not handed on to the attention, so hidden image tokens are seen.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = self.aligner(image_tokens)
        output, weights = self.cross_attn(text_tokens, context=image)
        return output, weights

# %% [wrong] image_asks | The roles are swapped: the image asks and the text answers.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(self.aligner(image_tokens), text_tokens, mask)

# %% [wrong] always_four_heads | The number of heads is hard-coded as 4 and num_heads is ignored.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads=4)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask=mask)

# %% [wrong] aligner_widths_swapped | The widths of the aligner are swapped: it goes from d_text to d_vision.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_text, d_vision, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        out, weights = self.cross_attn(text_tokens, aligned, mask)
        return out, weights

# %% [wrong] aligner_unused | The aligner is made but not used: the attention takes the raw image tokens with d_context=d_vision.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, d_context=d_vision)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, image_tokens, mask)

# %% [wrong] no_context | The aligned image is not handed to the attention as context, so the text only looks at itself.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        context = self.aligner(image_tokens)
        output, weights = self.cross_attn(text_tokens, mask=mask)
        return output, weights

# %% [wrong] output_only | Only the output is returned, the weights are left out.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        output, _ = self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
        return output

# %% [wrong] residual_added | The text tokens are added to the output, a residual that is not asked for.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        seen, weights = self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
        return text_tokens + seen, weights

# %% [wrong] positional_mix_up | The mask is passed in the place of the context and the image in the place of the mask.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, mask, self.aligner(image_tokens))

# %% [wrong] text_and_image_as_context | The context is text and image put together; the text should look at the image alone.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        everything = torch.cat([text_tokens, aligned], dim=-2)
        return self.cross_attn(text_tokens, everything, mask)

# %% [wrong] fresh_aligner_each_call | The aligner is made anew in every forward call, so it is random each time and not a registered part of the layer.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.d_vision, self.d_text, self.align_method = d_vision, d_text, align_method
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligner = TokenAligner(self.d_vision, self.d_text, self.align_method)
        return self.cross_attn(text_tokens, aligner(image_tokens), mask)

# %% [wrong] mask_negated | The mask is negated on the way to the attention, which takes True for "may attend" already.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        if mask is not None:
            mask = ~mask  # PyTorch: True = hidden
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)

# %% [wrong] second_head_axis | The mask gets a head axis here although the attention adds one itself, so a batch of masks has one axis too many.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        if mask is not None and mask.ndim == 3:
            mask = mask.unsqueeze(1)
        aligned = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, aligned, mask)

# %% [wrong] frozen_aligner | The aligned tokens are computed under no_grad, so the aligner gets no gradient and cannot learn.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        with torch.no_grad():  # the vision side is frozen
            image_tokens = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, image_tokens, mask)

# %% [wrong] width_as_num_heads | MultiHeadAttention gets d_text as number of heads and num_heads as width of the context: the arguments are out of place.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        output, weights = self.cross_attn(text_tokens, aligned, mask)
        return output, weights

# %% [wrong] misnamed_attention_and_mlp_default | The attention is called self.attn and not self.cross_attn AND the default of align_method is "mlp", not "linear".
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="mlp"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.attn(text_tokens, self.aligner(image_tokens), mask)

# %% [right] one_line_forward | Everything by keyword, the attention's result returned directly.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision=d_vision, d_text=d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_model=d_text, num_heads=num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(tokens=text_tokens, context=self.aligner(image_tokens), mask=mask)

# %% [right] positional_and_unpacked | Positional arguments, results unpacked and named.
class AlignedCrossAttention(nn.Module):
    """Text looks at an image whose tokens were aligned to it."""

    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.cross_attn = MultiHeadAttention(d_text, num_heads)
        self.aligner = TokenAligner(d_vision, d_text, align_method)

    def forward(self, text_tokens, image_tokens, mask=None):
        words_wide = self.aligner(image_tokens)
        answer, maps = self.cross_attn(text_tokens, words_wide, mask)
        return answer, maps

# %% [right] explicit_d_context | d_context is given explicitly (it equals d_text); the call of the attention depends on whether there is a mask.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, d_context=d_text, dropout=0.0)

    def forward(self, text_tokens, image_tokens, mask=None):
        context = self.aligner(image_tokens)
        if mask is None:
            output, weights = self.cross_attn(text_tokens, context)
        else:
            output, weights = self.cross_attn(text_tokens, context, mask)
        return (output, weights)
