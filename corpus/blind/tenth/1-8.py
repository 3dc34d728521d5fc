# %% [wrong] bias_left_in_the_values | W_Q and W_K have no bias, but W_V was written without bias=False: 108 parameters in place of 104, and every output is shifted by the bias.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k)

    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(text_tokens)
        key, value = self.W_K(image_tokens), self.W_V(image_tokens)
        return masked_attention(query, key, value, mask)

# %% [wrong] cosine_of_query_and_key | Queries and keys are brought to length 1 before they are compared, so the scores are cosines divided by √d_k and every map is nearly even. The lengths should count: the score is the dot product.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q = F.normalize(self.W_Q(text_tokens), dim=-1)
        k = F.normalize(self.W_K(image_tokens), dim=-1)
        v = self.W_V(image_tokens)
        output, weights = masked_attention(q, k, v, mask)
        return output, weights

# %% [wrong] super_called_too_late | super().__init__() stands after the layers: assigning the first nn.Linear raises an AttributeError, so no layer can be made. It must be called first.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)
        super().__init__()

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] mask_is_forgotten | forward takes a mask but calls attention without it, so hidden patches get weight as well. The mask should work as in 1.6.
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = [nn.Linear(d, d_k, bias=False) for d in (d_text, d_image, d_image)]

    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens))
        return output, weights

# %% [wrong] keys_are_the_values | The keys are used as values too, and W_V is made but never used. What comes back is the label and not the content; the values should be W_V of the image tokens.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        asks = self.W_Q(text_tokens)
        answers = self.W_K(image_tokens)
        return masked_attention(asks, answers, answers, mask)

# %% [right] question_carried_to_the_image | Carries each question through W_K back to the width of the image and compares it with the patches there; masks with torch.where, and projects the mixture of patches with W_V at the end.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        linear = lambda width: nn.Linear(width, d_k, bias=False)
        self.W_Q, self.W_K, self.W_V = linear(d_text), linear(d_image), linear(d_image)

    def forward(self, text_tokens, image_tokens, mask=None):
        wanted = self.W_Q(text_tokens) @ self.W_K.weight  # (..., T, d_image)
        fit = torch.einsum("...ti,...si->...ts", wanted, image_tokens) / self.W_K.out_features**0.5
        if mask is not None:
            fit = torch.where(mask, fit, torch.full_like(fit, -math.inf))
        weights = stable_softmax(fit)
        return self.W_V(weights @ image_tokens), weights
