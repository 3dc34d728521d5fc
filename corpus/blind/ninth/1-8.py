# %% [wrong] inherits_and_forgets_the_values | Builds on SelfAttention(d_text, d_k) and replaces W_K alone, so that W_V still reads d_text numbers. It should read d_image: an error wherever text and image differ in width.
class CrossAttention(SelfAttention):
    def __init__(self, d_text, d_image, d_k):
        super().__init__(d_text, d_k)
        self.W_K = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        return masked_attention(
            self.W_Q(text_tokens), self.W_K(image_tokens), self.W_V(image_tokens), mask
        )

# %% [wrong] values_made_by_W_K | Makes the values with W_K, so value and key are the same and W_V is never used. The map is right, the output is not.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        q = self.W_Q(text_tokens)
        k = self.W_K(image_tokens)
        v = self.W_K(image_tokens)
        return masked_attention(q, k, v, mask)

# %% [wrong] mask_turned_around | Hands ~mask on, because the trap with nn.MultiheadAttention is fresh in mind. The own masked_attention takes True = may attend: every word looks exactly where it may not.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K, self.W_V = (nn.Linear(d_image, d_k, bias=False) for _ in "KV")

    def forward(self, text_tokens, image_tokens, mask=None):
        blocked = None if mask is None else ~mask
        return masked_attention(
            query=self.W_Q(text_tokens),
            key=self.W_K(image_tokens),
            value=self.W_V(image_tokens),
            mask=blocked,
        )

# %% [wrong] root_of_the_text_width | Writes the attention out and divides by the root of d_text, the width before the projection. It should be the root of d_k, the width of the projected queries: the map is too flat or too sharp.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.scale = d_text**-0.5
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        scores = torch.einsum("...td,...sd->...ts", self.W_Q(text_tokens), self.W_K(image_tokens)) * self.scale
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = stable_softmax(scores)
        return torch.einsum("...ts,...sd->...td", weights, self.W_V(image_tokens)), weights

# %% [wrong] all_scenes_in_one_heap | Flattens the image tokens to (-1, d_image) before they are projected. The batch is lost: each word looks at the patches of all scenes, and the map is (B, T, B·S) in place of (B, T, S).
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.d_image = d_image
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        patches = image_tokens.reshape(-1, self.d_image)
        return masked_attention(self.W_Q(text_tokens), self.W_K(patches), self.W_V(patches), mask)

# %% [wrong] words_among_the_keys | Puts the projected words in front of the keys and values, as in one sequence. In cross-attention the image alone answers: the map has T + S columns in place of S.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        words = self.W_Q(text_tokens)
        keys = torch.cat([words, self.W_K(image_tokens)], dim=-2)
        values = torch.cat([words, self.W_V(image_tokens)], dim=-2)
        if mask is not None:
            see_words = torch.ones(*mask.shape[:-1], words.shape[-2], dtype=torch.bool, device=mask.device)
            mask = torch.cat([see_words, mask], dim=-1)
        return masked_attention(words, keys, values, mask)

# %% [right] keys_moved_to_the_text_side | Never makes the keys: it carries each query back through W_K and compares it with the raw patches, and mixes the raw patches before W_V.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        widths = {"W_Q": d_text, "W_K": d_image, "W_V": d_image}
        for name, width in widths.items():
            setattr(self, name, nn.Linear(width, d_k, bias=False))

    def forward(self, text_tokens, image_tokens, mask=None):
        asked = self.W_Q(text_tokens) @ self.W_K.weight
        scores = asked @ image_tokens.transpose(-2, -1) / math.sqrt(self.W_K.out_features)
        if mask is not None:
            scores = torch.where(mask, scores, -math.inf)
        weights = stable_softmax(scores)
        return self.W_V(weights @ image_tokens), weights
