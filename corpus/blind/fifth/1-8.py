# %% [wrong] image_asks | the query is made from the image and keys and values from the text, so the map is (S, T): the direction is turned round (W_Q reads d_image, the others d_text)
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_image, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(image_tokens), self.W_K(text_tokens), self.W_V(text_tokens), mask)

# %% [wrong] values_of_the_text | W_V reads d_text and the values come from the text: there are T values for S keys, which raises an error where T ≠ S; values should come from the image
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q = self.W_Q(text_tokens)
        k = self.W_K(image_tokens)
        v = self.W_V(text_tokens)
        return masked_attention(q, k, v, mask)

# %% [wrong] same_width | all three layers read d_text numbers, so the image's tokens do not fit as soon as d_image differs from d_text
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = [nn.Linear(d_text, d_k, bias=False) for _ in range(3)]

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] mask_turned | forward hands ~mask on, as one does for nn.MultiheadAttention; here True means may attend, so it looks exactly where it must not
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        if mask is not None:
            mask = ~mask  # True = ignore
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] keys_as_values | the values are the projected keys: W_V is made and never used, so the output is a mean of W_K's image tokens, and W_V gets no gradient
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query, key = self.W_Q(text_tokens), self.W_K(image_tokens)
        return masked_attention(query, key, key, mask)

# %% [wrong] one_sequence | keys and values are made of text and image together (after a projection of each): the map is (T, T + S) and words look at words; only the image should answer
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(text_tokens)
        keys = torch.cat([query, self.W_K(image_tokens)], dim=-2)
        values = torch.cat([query, self.W_V(image_tokens)], dim=-2)
        return masked_attention(query, keys, values, mask)

# %% [right] widths_in_a_table | the widths of the three layers stand in a table by name, and the layers are added with add_module
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        for letter, width in {"Q": d_text, "K": d_image, "V": d_image}.items():
            self.add_module(f"W_{letter}", nn.Linear(width, d_k, bias=False))

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(
            query=self.W_Q(text_tokens),
            key=self.W_K(image_tokens),
            value=self.W_V(image_tokens),
            mask=mask,
        )
