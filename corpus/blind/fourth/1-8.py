# %% [wrong] values_from_text | The values are made from the text; who answers, the image, must give keys and values. With as many words as patches it even runs.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(text_tokens), mask)


# %% [wrong] image_asks | The image asks and the text answers: the map is (S, T) and not (T, S).
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_image, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q, k, v = self.W_Q(image_tokens), self.W_K(text_tokens), self.W_V(text_tokens)
        return masked_attention(q, k, v, mask)


# %% [wrong] equal_widths_only | All three projections read d_text numbers, copied from self-attention: it fails where d_image differs.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(text_tokens)
        key, value = self.W_K(image_tokens), self.W_V(image_tokens)
        return masked_attention(query, key, value, mask)


# %% [wrong] mask_dropped | The mask is not handed on to the attention.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = masked_attention(
            self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens)
        )
        return output, weights


# %% [wrong] biases_on_the_image_side | `bias=False` stands at W_Q only; W_K and W_V have a bias.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k)
        self.W_V = nn.Linear(d_image, d_k)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)


# %% [wrong] key_and_value_swapped | Keys and values are handed over in the wrong order: W_V makes what is compared, W_K what is mixed.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        Q = self.W_Q(text_tokens)
        K = self.W_K(image_tokens)
        V = self.W_V(image_tokens)
        return masked_attention(Q, V, K, mask)


# %% [right] child_of_self_attention | Inherits from `SelfAttention`, replaces its W_Q by one for the text, and writes the projections with `F.linear`.
class CrossAttention(SelfAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_image, d_k)
        self.W_Q = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        asks = F.linear(text_tokens, self.W_Q.weight)
        answers = (F.linear(image_tokens, layer.weight) for layer in (self.W_K, self.W_V))
        return masked_attention(asks, *answers, mask)
