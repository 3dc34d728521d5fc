# %% [wrong] one_sequence_cut | puts words and patches into one sequence, attends over all of it and cuts out the rows of the words and the columns of the patches: the words' share of the weight is lost, so rows do not sum to 1 and the output mixes in words
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        T = text_tokens.shape[-2]
        q = self.W_Q(text_tokens)
        k = torch.cat([q, self.W_K(image_tokens)], dim=-2)
        v = torch.cat([q, self.W_V(image_tokens)], dim=-2)
        if mask is not None:
            mask = F.pad(mask, (T, 0), value=True)
        output, weights = masked_attention(q, k, v, mask)
        return output, weights[..., T:]


# %% [wrong] widths_swapped | __init__ takes the widths in the order (d_image, d_text, d_k), so W_Q gets the width of the image and W_K, W_V that of the text; fails where they differ, and the count of parameters is wrong
class CrossAttention(nn.Module):
    def __init__(self, d_image, d_text, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K, self.W_V = (nn.Linear(d_image, d_k, bias=False) for _ in range(2))

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask)


# %% [wrong] mask_turned_round | inverts the mask before handing it on, as nn.MultiheadAttention would want it; masked_attention takes True = may attend, so exactly the hidden patches are seen
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        widths = {"W_Q": d_text, "W_K": d_image, "W_V": d_image}
        for name, width in widths.items():
            setattr(self, name, nn.Linear(width, d_k, bias=False))

    def forward(self, text_tokens, image_tokens, mask=None):
        blocked = None if mask is None else ~mask
        return masked_attention(
            self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask=blocked
        )


# %% [wrong] the_image_asks | queries are made from the image and keys and values from the text: the roles are exchanged, the map is (S, T) instead of (T, S), and the widths of the layers with it
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_image, d_k, bias=False)
        self.W_K = nn.Linear(d_text, d_k, bias=False)
        self.W_V = nn.Linear(d_text, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        query = self.W_Q(image_tokens)
        key, value = self.W_K(text_tokens), self.W_V(text_tokens)
        return masked_attention(query, key, value, mask)


# %% [wrong] bias_left_in | the projections are plain nn.Linear with a bias, which the task excludes: 116 parameters instead of 104 for (6, 10, 4)
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k)
        self.W_K = nn.Linear(d_image, d_k)
        self.W_V = nn.Linear(d_image, d_k)

    def forward(self, text_tokens, image_tokens, mask=None):
        output, weights = masked_attention(
            query=self.W_Q(text_tokens),
            key=self.W_K(image_tokens),
            value=self.W_V(image_tokens),
            mask=mask,
        )
        return output, weights


# %% [right] child_of_self_attention | derives from SelfAttention and replaces the two layers that read the image
class CrossAttention(SelfAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_text, d_k)
        del self.W_K, self.W_V
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        asked = self.W_Q(text_tokens)
        label, content = self.W_K(image_tokens), self.W_V(image_tokens)
        return masked_attention(asked, label, content, mask)
