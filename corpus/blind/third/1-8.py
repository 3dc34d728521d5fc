# %% [wrong] image_asks | Roles exchanged: the queries come from the image and keys and values from the text.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_image, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(image_tokens), self.W_K(text_tokens), self.W_V(text_tokens), mask)

# %% [wrong] all_read_text_width | All three projections read d_text numbers (copied from self-attention): an error as soon as the image is of another width.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_text, d_k, bias=False) for _ in range(3))

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)

# %% [wrong] values_from_text | The values are made from the text: there are T of them and not S, and the words get nothing of the image.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(text_tokens)
        key = self.W_K(image_tokens)
        value = self.W_V(text_tokens)
        return masked_attention(query, key, value, mask)

# %% [wrong] key_and_value_same | Uses one projection for keys and values; W_V is made and never used.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        key = value = self.W_K(image_tokens)
        return masked_attention(self.W_Q(text_tokens), key, value, mask)

# %% [wrong] mask_forgotten | The mask is taken and dropped: hidden patches get weight.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        scores = torch.einsum("...td,...sd->...ts", self.W_Q(text_tokens), self.W_K(image_tokens))
        weights = torch.softmax(scores / self.W_Q.out_features**0.5, dim=-1)
        return weights @ self.W_V(image_tokens), weights

# %% [wrong] layers_in_a_list | The layers stand in a plain Python list: they are no attributes W_Q, W_K, W_V, and their parameters are not registered.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.layers = [nn.Linear(width, d_k, bias=False) for width in (d_text, d_image, d_image)]

    def forward(self, text_tokens, image_tokens, mask=None):
        W_Q, W_K, W_V = self.layers
        return masked_attention(W_Q(text_tokens), W_K(image_tokens), W_V(image_tokens), mask)

# %% [right] lazy_names_and_zip | Makes the layers in a loop over names and widths, and calls them in a loop over names and sources.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        for name, width in {"W_Q": d_text, "W_K": d_image, "W_V": d_image}.items():
            setattr(self, name, nn.Linear(width, d_k, bias=False))

    def forward(self, text_tokens, image_tokens, mask=None):
        sources = dict(W_Q=text_tokens, W_K=image_tokens, W_V=image_tokens)
        query, key, value = [getattr(self, name)(source) for name, source in sources.items()]
        output, weights = masked_attention(query, key, value, mask=mask)
        return output, weights
