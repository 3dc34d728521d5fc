# %% [wrong] no_aligner_if_widths_agree | Leaves the aligner out where d_vision equals d_text. Equal width is not the same space, and the method says what is wanted: "linear" and "mlp" have nothing to learn there, and the aligner is no TokenAligner.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        if d_vision == d_text:
            self.aligner = nn.Identity()
        else:
            self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)

# %% [wrong] text_looks_at_text_too | Puts the text in front of the aligned image and lets the text look at both. The image alone should answer: the maps have T + S columns in place of S.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        context = torch.cat([text_tokens, self.aligner(image_tokens)], dim=-2)
        if mask is not None:
            mask = F.pad(mask, (text_tokens.shape[-2], 0), value=True)
        return self.cross_attn(text_tokens, context, mask=mask)

# %% [wrong] aligned_to_length_one | Normalises the aligned tokens to length 1, as in the loss of 2.3. Here they should go into the attention as they are: smaller keys, flatter maps, smaller outputs.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = F.normalize(self.aligner(image_tokens), dim=-1)
        output, weights = self.cross_attn(text_tokens, aligned, mask)
        return output, weights

# %% [wrong] head_width_for_head_count | Hands d_text // num_heads to the attention, the width of a head in place of their number. For 32 and 4 there are 8 heads; it is right only where the two happen to be equal.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        d_head = d_text // num_heads
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, d_head)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = self.aligner(image_tokens)
        return self.cross_attn(tokens=text_tokens, context=image, mask=mask)

# %% [wrong] text_added_to_the_output | Adds the text to the output, a residual. What the text gets from the image alone is asked for: the output is off by the text tokens, and a word that may look nowhere gets itself in place of zeros.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner, self.cross_attn = (
            TokenAligner(d_vision, d_text, align_method),
            MultiHeadAttention(d_text, num_heads),
        )

    def forward(self, text_tokens, image_tokens, mask=None):
        seen, weights = self.cross_attn(text_tokens, self.aligner(image_tokens), mask=mask)
        return text_tokens + seen, weights

# %% [wrong] always_the_linear_aligner | Takes align_method and never hands it on. "mlp" and "identity" should reach the aligner, and give a linear one; an unknown method raises nothing.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.align_method = align_method
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned_image = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, context=aligned_image, mask=mask)

# %% [right] module_dict_of_parts | The parts are registered from a dict in a loop, and all arguments go on by name through functions of the parts.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        nn.Module.__init__(self)
        parts = dict(
            aligner=TokenAligner(method=align_method, d_text=d_text, d_vision=d_vision),
            cross_attn=MultiHeadAttention(num_heads=num_heads, d_model=d_text),
        )
        for name, part in parts.items():
            self.register_module(name, part)

    def forward(self, text_tokens, image_tokens, mask=None):
        call = {"tokens": text_tokens, "context": self.aligner(image_tokens), "mask": mask}
        return tuple(self.cross_attn(**call))
