# %% [wrong] keys_used_as_values | The keys are handed over as values too, so W_V is made and never used. The values must be W_V of the image tokens.
class CrossAttention(nn.Module):
    """Text asks, the image answers."""

    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        queries = self.W_Q(text_tokens)
        image = self.W_K(image_tokens)
        return masked_attention(queries, image, image, mask)
# %% [wrong] one_mask_for_all_words | The mask is collapsed over the words: a patch that one word may look at is open to all words. Each word has its own row in the mask, so it should be handed on unchanged.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K, self.W_V = (nn.Linear(d_image, d_k, bias=False) for _ in range(2))

    def forward(self, text_tokens, image_tokens, mask=None):
        q = self.W_Q(text_tokens)
        k = self.W_K(image_tokens)
        v = self.W_V(image_tokens)
        if mask is not None:
            # which patches may be seen, (..., 1, S)
            mask = mask.any(dim=-2, keepdim=True)
        output, weights = masked_attention(q, k, v, mask)
        return output, weights
# %% [wrong] image_cut_from_the_gradient | The image tokens are detached, so no gradient goes back to whatever made them. The image answers, but it must still be possible to train the network before it: no detach.
class CrossAttention(nn.Module):
    def __init__(self, d_text, d_image, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_text, d_k, bias=False)
        self.W_K = nn.Linear(d_image, d_k, bias=False)
        self.W_V = nn.Linear(d_image, d_k, bias=False)

    def forward(self, text_tokens, image_tokens, mask=None):
        image = image_tokens.detach()
        return masked_attention(self.W_Q(text_tokens), self.W_K(image), self.W_V(image), mask=mask)
