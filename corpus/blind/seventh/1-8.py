# %% [wrong] the_image_asks | The roles are exchanged: W_Q reads the image, W_K and W_V read the text, so the map is (S, T) and the output has a row for each patch.
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_image, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        """text_tokens (..., T, d_text), image_tokens (..., S, d_image) → output (..., T, d_k), weights (..., T, S)"""
        return masked_attention(self.W_Q(image_tokens), self.W_K(text_tokens), self.W_V(text_tokens), mask)

# %% [wrong] bias_on_the_values | W_V is made without bias=False, and so it has a bias: 108 parameters instead of 104, and each output is shifted.
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k)

    def forward(self, text_tokens, image_tokens, mask=None):
        """text_tokens (..., T, d_text), image_tokens (..., S, d_image) → output (..., T, d_k), weights (..., T, S)"""
        q, k, v = self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens)
        return masked_attention(q, k, v, mask)

# %% [wrong] compared_at_image_width | W_Q and W_K project to d_image instead of d_k, so words and patches are compared, and the scores scaled, at the image's width; the parameters are not 104 but 200.
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_image, bias=False)  # text into the space of the image
        self.W_K = nn.Linear(d_image, d_image, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        """text_tokens (..., T, d_text), image_tokens (..., S, d_image) → output (..., T, d_k), weights (..., T, S)"""
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] mask_the_other_way_round | The mask is transposed before it is handed on, as if it came with a row for each patch; (T, S) becomes (S, T), which does not fit the scores, or hides the wrong pairs where T = S.
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        """text_tokens (..., T, d_text), image_tokens (..., S, d_image) → output (..., T, d_k), weights (..., T, S)"""
        if mask is not None:
            mask = mask.transpose(-2, -1)
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] squeezed_results | Both results go through squeeze(), so every axis of length 1 is lost: with one word, or a batch of one, the output is not (..., T, d_k) and the map not (..., T, S).
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        """text_tokens (..., T, d_text), image_tokens (..., S, d_image) → output (..., T, d_k), weights (..., T, S)"""
        out, w = masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)
        return out.squeeze(), w.squeeze()

# %% [wrong] keys_read_as_values | The keys are handed on as values as well, and W_V is made but never used: found by the label, the label is read; it should be self.W_V(image_tokens).
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        """text_tokens (..., T, d_text), image_tokens (..., S, d_image) → output (..., T, d_k), weights (..., T, S)"""
        question = self.W_Q(text_tokens)
        answers = self.W_K(image_tokens)
        return masked_attention(question, answers, answers, mask)

# %% [right] widths_by_name | a dictionary says which layer reads which width; the image's two projections are unpacked into the call
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        for name, width in {"W_Q": d_text, "W_K": d_image, "W_V": d_image}.items():
            self.add_module(name, nn.Linear(width, d_k, bias=False))

    def forward(self, text_tokens, image_tokens, mask=None):
        """text_tokens (..., T, d_text), image_tokens (..., S, d_image) → output (..., T, d_k), weights (..., T, S)"""
        from_image = (layer(image_tokens) for layer in (self.W_K, self.W_V))
        return masked_attention(self.W_Q(text_tokens), *from_image, mask=mask)
