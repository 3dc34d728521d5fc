# %% [wrong] aligned_tokens_made_unit_length | The aligned tokens are divided by their length, as in the loss of 2.3, before the text looks at them. Attention works on the aligned tokens as they are.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = F.normalize(self.aligner(image_tokens), dim=-1)
        return self.cross_attn(text_tokens, image, mask)
# %% [wrong] text_added_to_the_output | The text tokens are added to what the attention brings, a residual that nobody asked for. The output is that of cross_attn alone.
class AlignedCrossAttention(nn.Module):
    """Text looks at an image whose tokens were aligned to it."""

    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        seen, weights = self.cross_attn(text_tokens, context=aligned, mask=mask)
        return text_tokens + seen, weights
# %% [wrong] aligner_cannot_learn | The aligner runs under no_grad, so its weights never get a gradient and stay random. Aligner and attention should both be trainable.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    @torch.no_grad()
    def _align(self, image_tokens):
        return self.aligner(image_tokens)

    def forward(self, text_tokens, image_tokens, mask=None):
        context = self._align(image_tokens)
        output, weights = self.cross_attn(text_tokens, context, mask)
        return output, weights
