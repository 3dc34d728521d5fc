# %% [wrong] keys_read_the_width_of_text | W_K is built for d_text numbers; it should read d_image, because the keys come from the image. Works where both are equal, a shape error elsewhere.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query, key, value = self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens)
        return masked_attention(query, key, value, mask)

# %% [wrong] mask_turned_on_its_side | The mask is transposed before it is handed on; it is (..., T, S) already. An error for most shapes, and where T = S the wrong patches are hidden.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K, self.W_V = (nn.Linear(d_image, d_k, bias=False) for _ in range(2))

    def forward(self, text_tokens, image_tokens, mask=None):
        if mask is not None:
            mask = mask.transpose(-2, -1)
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] values_are_the_keys | The values are the keys, since W_V is the same layer as W_K; they should have a layer of their own. 64 parameters in place of 104 for (6, 10, 4), and what is found is what is told.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = self.W_K

    def forward(self, text_tokens, image_tokens, mask=None):
        asks = self.W_Q(text_tokens)
        answers = self.W_K(image_tokens)
        return masked_attention(asks, answers, answers, mask)

# %% [wrong] the_question_added_to_the_answer | The projected query is added to the output as a residual; the output should be the mix of the values alone.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        widths = {"W_Q": d_text, "W_K": d_image, "W_V": d_image}
        for name, width in widths.items():
            setattr(self, name, nn.Linear(width, d_k, bias=False))

    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(text_tokens)
        seen, weights = masked_attention(query, self.W_K(image_tokens), self.W_V(image_tokens), mask)
        return query + seen, weights

# %% [wrong] mask_after_the_softmax | The weights of plain attention are multiplied by the mask afterwards; the mask should come before the softmax. The rows add up to less than 1.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        value = self.W_V(image_tokens)
        output, weights = attention(self.W_Q(text_tokens), self.W_K(image_tokens), value)
        if mask is None:
            return output, weights
        weights = weights * mask
        return weights @ value, weights

# %% [wrong] super_forgotten | super().__init__() is never called; it must come first. Making the layer raises an AttributeError at the first nn.Linear.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [right] written_out_step_by_step | The attention is written out with the functions of 1.2 and 1.3; who asks and who answers are named.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K, self.W_V = (nn.Linear(d_image, d_k, bias=False) for _ in "KV")

    def forward(self, text_tokens, image_tokens, mask=None):
        scores = scaled_scores(self.W_Q(text_tokens), self.W_K(image_tokens))
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), -math.inf)
        weights = stable_softmax(scores, dim=-1)
        return torch.matmul(weights, self.W_V(image_tokens)), weights
