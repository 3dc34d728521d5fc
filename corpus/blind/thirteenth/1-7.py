# %% [wrong] one_layer_three_names | [layer] * 3 repeats the same Linear three times: W_Q, W_K and W_V share one matrix, there are only d_model * d_k parameters, and the scores are symmetric
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = [nn.Linear(d_model, d_k, bias=False)] * 3

    def forward(self, tokens, mask=None):
        query, key, value = (layer(tokens) for layer in (self.W_Q, self.W_K, self.W_V))
        return masked_attention(query, key, value, mask)


# %% [wrong] always_causal | where no mask is given it puts in a causal mask, so tokens never look ahead though the text says without a mask all may be seen
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        make = lambda: nn.Linear(d_model, d_k, bias=False)
        self.W_Q, self.W_K, self.W_V = make(), make(), make()

    def forward(self, tokens, mask=None):
        if mask is None:
            mask = causal_mask(tokens.shape[-2]).to(tokens.device)
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)


# %% [wrong] key_asks | hands the arguments to masked_attention in the order key, query: the map is that of the keys asking the queries (scores transposed)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        k, q, v = self.W_K(tokens), self.W_Q(tokens), self.W_V(tokens)
        output, weights = masked_attention(k, q, v, mask=mask)
        return output, weights


# %% [wrong] extra_output_layer | adds an output projection W_O that the task excludes ("no other parameters"): 112 parameters instead of 96 for (8, 4), and the output is projected once too often
class SelfAttention(nn.Module):
    """Self-attention as in the transformer paper."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.W_O = nn.Linear(d_k, d_k, bias=False)

    def forward(self, tokens, mask=None):
        mixed, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return self.W_O(mixed), weights


# %% [wrong] additive_mask | treats the bool mask as an additive one: True adds 1 to a score and False adds 0, so nothing is hidden
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_k = d_k
        for letter in "QKV":
            setattr(self, "W_" + letter, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        scores = self.W_Q(tokens) @ self.W_K(tokens).transpose(-2, -1) / self.d_k**0.5
        if mask is not None:
            scores = scores + mask
        weights = stable_softmax(scores)
        return weights @ self.W_V(tokens), weights


# %% [right] named_in_a_loop | makes the layers with add_module in a loop, reads them back by name, and hides with torch.where
class SelfAttention(nn.Module):
    NAMES = ("W_Q", "W_K", "W_V")

    def __init__(self, d_model, d_k):
        nn.Module.__init__(self)
        for name in self.NAMES:
            self.add_module(name, nn.Linear(in_features=d_model, out_features=d_k, bias=False))

    def forward(self, tokens, mask=None):
        query, key, value = [getattr(self, name)(tokens) for name in self.NAMES]
        scores = scaled_scores(query, key)
        if mask is not None:
            scores = torch.where(mask, scores, torch.full_like(scores, -math.inf))
        weights = stable_softmax(scores)
        return torch.einsum("...qk,...kd->...qd", weights, value), weights
