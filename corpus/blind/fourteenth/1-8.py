# %% [wrong] values_keep_the_images_width | W_V goes from d_image to d_image, not to d_k, so the output is as wide as an image token.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_image, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] mask_laid_on_its_side | The mask is transposed before use, as if its rows were patches; its rows are words already.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q = self.W_Q(text_tokens)
        k, v = self.W_K(image_tokens), self.W_V(image_tokens)
        if mask is not None:
            mask = mask.transpose(-2, -1)
        return masked_attention(q, k, v, mask)

# %% [wrong] parent_never_initialised | super().__init__() is not called, so nn.Module refuses to take the first layer.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(text_tokens)
        key = self.W_K(image_tokens)
        value = self.W_V(image_tokens)
        return masked_attention(query, key, value, mask)
