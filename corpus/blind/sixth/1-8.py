# %% [wrong] values_from_text | W_V reads the text tokens, so there are T values for S keys: the product weights @ value fails, or for T = S mixes words instead of patches
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(text_tokens), mask)

# %% [wrong] image_asks | The roles are exchanged: the image makes the queries and the text answers, so output and weights are (..., S, d_k) and (..., S, T)
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_image, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q = self.W_Q(image_tokens)
        k, v = self.W_K(text_tokens), self.W_V(text_tokens)
        return masked_attention(q, k, v, mask)

# %% [wrong] raw_values | The values are the image tokens themselves, W_V is made and never used: the output is d_image wide instead of d_k
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), image_tokens, mask)

# %% [wrong] one_width | All three projections read d_text numbers; the image has d_image, so forward fails with a shape error wherever the widths differ
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_text, d_k, bias=False) for _ in range(3))

    def forward(self, text_tokens, image_tokens, mask=None):
        query, key, value = self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens)
        return masked_attention(query, key, value, mask)

# %% [wrong] mask_transposed | The mask is transposed to (..., S, T) before it is handed on, although it comes as (..., T, S) already: it does not broadcast, or hides the wrong pairs
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        if mask is not None:
            mask = mask.transpose(-2, -1)
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] root_of_d_image | The scores are divided by the root of the image tokens' width d_image instead of d_k, so the weights are too flat or too sharp
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        scores = attention_scores(self.W_Q(text_tokens), self.W_K(image_tokens)) / image_tokens.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        w = stable_softmax(scores)
        return w @ self.W_V(image_tokens), w

# %% [right] subclass | a SelfAttention of the image whose W_Q is replaced by one that reads the text
class CrossAttention(SelfAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_image, d_k)
        self.W_Q = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        asked = self.W_Q(text_tokens)
        found_by, told = self.W_K(image_tokens), self.W_V(image_tokens)
        return masked_attention(asked, found_by, told, mask)
