# %% [right] module_dict_free | right
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        widths = {"W_Q": d_text, "W_K": d_image, "W_V": d_image}
        for name in widths:
            self.add_module(name, nn.Linear(widths[name], d_k, bias=False))

    def forward(self, text_tokens, image_tokens, mask=None):
        asks = text_tokens @ self.W_Q.weight.T
        labels = image_tokens @ self.W_K.weight.T
        contents = image_tokens @ self.W_V.weight.T
        return masked_attention(asks, labels, contents, mask)

# %% [wrong] values_from_text | The values are made from the text instead of the image.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(text_tokens), mask)

# %% [wrong] image_asks | The image asks and the text answers.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_image, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(image_tokens), self.W_K(text_tokens), self.W_V(text_tokens), mask)

# %% [wrong] same_width_assumed | W_K and W_V read d_text numbers, so text and image must be equally wide.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] mask_not_handed_on | The mask is not handed on.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens))

# %% [wrong] bias | The projections have a bias.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k)
        self.W_K = nn.Linear(d_image, d_k)
        self.W_V = nn.Linear(d_image, d_k)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] keys_as_values | The projected keys serve as values too; W_V is made but not used.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_K(image_tokens), mask)

# %% [wrong] causal_by_default | Without a mask a causal one is laid over words and patches.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        if mask is None:
            T, S = text_tokens.shape[-2], image_tokens.shape[-2]
            mask = torch.ones(T, S, dtype=torch.bool, device=text_tokens.device).tril()
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] weights_transposed | The weights are returned transposed, (S, T).
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = masked_attention(
            self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask
        )
        return output, weights.transpose(-2, -1)

# %% [wrong] self_attention_of_both | Text and image are put into one context, so words look at words as well.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(text_tokens)
        key = torch.cat([self.W_K(image_tokens), query], dim=-2)
        value = torch.cat([self.W_V(image_tokens), query], dim=-2)
        output, weights = masked_attention(query, key, value, None)
        return output, weights[..., : image_tokens.shape[-2]]
