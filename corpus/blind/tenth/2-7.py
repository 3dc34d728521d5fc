# %% [wrong] always_a_linear_aligner | align_method is accepted but not handed to the aligner, so every layer has a linear one. "mlp" and "identity" should reach TokenAligner.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)

# %% [wrong] mask_left_behind | The mask is not handed on to the attention: patches that should be hidden get weight.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = self.aligner(image_tokens)
        output, weights = self.cross_attn(text_tokens, context=image)
        return output, weights

# %% [wrong] text_is_added | The text tokens are added to the output, as a block of a transformer would do. The output of the attention alone is asked for.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads=num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        attended, weights = self.cross_attn(text_tokens, aligned, mask=mask)
        return text_tokens + attended, weights

# %% [wrong] aligned_tokens_brought_to_length_one | The aligned tokens are normalised to length 1, as in the loss of 2.3, before the text looks at them. They should be the context as they come from the aligner.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = F.normalize(self.aligner(image_tokens), dim=-1)
        return self.cross_attn(text_tokens, aligned, mask)

# %% [wrong] text_looks_at_text_too | Aligned image and text are joined into one context, as in LLaVA, so the map is T + S wide and words get weight. The text should look at the S patches only.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        everything = torch.cat([self.aligner(image_tokens), text_tokens], dim=-2)
        return self.cross_attn(text_tokens, everything, mask)

# %% [right] parts_by_name | The parts are registered with add_module and called with every argument by name; the pair is unpacked and built again.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        parts = dict(
            aligner=TokenAligner(d_vision=d_vision, d_text=d_text, method=align_method),
            cross_attn=MultiHeadAttention(d_model=d_text, num_heads=num_heads),
        )
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, text_tokens, image_tokens, mask=None):
        what_was_seen, where = self.cross_attn(mask=mask, context=self.aligner(image_tokens), tokens=text_tokens)
        return what_was_seen, where
