# %% [wrong] method_not_handed_on | align_method is not handed to the aligner, which is linear in every case; it should be TokenAligner(d_vision, d_text, align_method). "mlp" and "identity" change nothing.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, self.aligner(image_tokens), mask)

# %% [wrong] width_of_a_head_as_their_number | The attention gets d_text // num_heads as its number of heads, which is the width of a head; it should be num_heads. With 32 and 4 there are 8 heads.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        d_head = d_text // num_heads
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, d_head)

    def forward(self, text_tokens, image_tokens, mask=None):
        aligned = self.aligner(image_tokens)
        return self.cross_attn(text_tokens, aligned, mask=mask)

# %% [wrong] residual_inside | The text is added to the output; the layer should return what the attention brings alone. Whoever adds the residual outside has it twice.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        seen, weights = self.cross_attn(text_tokens, self.aligner(image_tokens), mask)
        return text_tokens + seen, weights

# %% [wrong] the_attention_aligns_by_itself | The attention is built with d_context=d_vision and gets the raw image tokens; they should go through the aligner first. The aligner is made and never used, and gets no gradient.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads, d_context=d_vision)

    def forward(self, text_tokens, image_tokens, mask=None):
        return self.cross_attn(text_tokens, context=image_tokens, mask=mask)

# %% [wrong] aligned_to_length_one | The aligned tokens are brought to length 1 before the attention, as in the loss; they should go in as the aligner gives them. Keys and values lose their lengths.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        context = F.normalize(self.aligner(image_tokens), dim=-1)
        return self.cross_attn(text_tokens, context, mask)

# %% [wrong] mask_as_in_pytorchs_layer | The mask is inverted before it is handed on, as nn.MultiheadAttention would want it; here True means may attend already. The words look exactly at what should be hidden.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision, d_text, align_method)
        self.cross_attn = MultiHeadAttention(d_text, num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        forbidden = None if mask is None else mask.logical_not()
        return self.cross_attn(text_tokens, self.aligner(image_tokens), forbidden)

# %% [right] all_by_keyword | Both parts are built by keyword, and the pair is unpacked under names before it is returned.
class AlignedCrossAttention(nn.Module):
    def __init__(self, d_vision, d_text, num_heads, align_method="linear"):
        super().__init__()
        self.aligner = TokenAligner(d_vision=d_vision, d_text=d_text, method=align_method)
        self.cross_attn = MultiHeadAttention(d_model=d_text, num_heads=num_heads)

    def forward(self, text_tokens, image_tokens, mask=None):
        image_in_words = self.aligner(image_tokens)
        output, weights = self.cross_attn(tokens=text_tokens, context=image_in_words, mask=mask)
        return output, weights
