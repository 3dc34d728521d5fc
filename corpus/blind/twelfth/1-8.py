# %% [wrong] image_asks | the roles are turned round: the queries come from the image, keys and values from the text; the map is (..., S, T)
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_image, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(image_tokens)
        key = self.W_K(text_tokens)
        value = self.W_V(text_tokens)
        return masked_attention(query, key, value, mask)


# %% [wrong] inherited_W_V | the layer inherits from SelfAttention and replaces only W_K; W_V still reads d_text numbers and is given the image tokens: an error (and a wrong number of parameters) unless d_text = d_image
class CrossAttention(SelfAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_text, d_k)
        self.W_K = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(
            self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask
        )


# %% [wrong] mask_transposed | the mask is already (..., T, S), a row for each word, but it is transposed before it is handed on: an error, or a wrong mask where the sizes happen to broadcast
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        linear = lambda width: nn.Linear(width, d_k, bias=False)
        self.W_Q, self.W_K, self.W_V = map(linear, (d_text, d_image, d_image))

    def forward(self, text_tokens, image_tokens, mask=None):
        if mask is not None:
            mask = mask.transpose(-2, -1)  # image x text
        q, k, v = self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens)
        return masked_attention(q, k, v, mask)


# %% [wrong] values_from_the_text | keys are made from the image but the values from the text: whoever answers must give both, so the weights (over S patches) do not fit the T values
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = masked_attention(
            query=self.W_Q(text_tokens),
            key=self.W_K(image_tokens),
            value=self.W_V(text_tokens),
            mask=mask,
        )
        return output, weights


# %% [wrong] keys_read_twice | W_V is made but never used: the projected keys serve as values too, so the output is a mean of keys and W_V gets no gradient
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        for name, width in {"W_Q": d_text, "W_K": d_image, "W_V": d_image}.items():
            self.add_module(name, nn.Linear(width, d_k, bias=False))

    def forward(self, text_tokens, image_tokens, mask=None):
        asked, answered = self.W_Q(text_tokens), self.W_K(image_tokens)
        weights = masked_attention(asked, answered, answered, mask)[1]
        return torch.einsum("...ts,...sd->...td", weights, answered), weights


# %% [right] self_attention_with_another_asker | inherits from SelfAttention on the side of the image and replaces W_Q only
class CrossAttention(SelfAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_image, d_k)
        self.W_Q = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        answers = (W(image_tokens) for W in (self.W_K, self.W_V))
        return masked_attention(self.W_Q(text_tokens), *answers, mask=mask)
