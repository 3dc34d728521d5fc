# %% [wrong] query_and_key_share_one_matrix | W_K is the very same layer as W_Q: the scores are symmetric, and there are 64 parameters in place of 96. The three projections should each have a matrix of its own.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] root_of_d_model | The scores are divided by the root of d_model, the width of the tokens. Queries and keys are d_k wide, so it should be √d_k; the map is too flat where d_model > d_k.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        q, k, v = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        scores = q @ k.transpose(-2, -1) / self.scale
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = stable_softmax(scores)
        return weights @ v, weights

# %% [wrong] with_an_output_projection | A fourth layer W_O was added after the attention, as in the paper's multi-head attention. The task allows three projections and no other parameters, and the output should be the weighted mean of the values itself.
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.W_O = nn.Linear(d_k, d_k, bias=False)

    def forward(self, tokens, mask=None):
        out, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return self.W_O(out), weights

# %% [wrong] nan_where_nothing_may_be_seen | The layer masks by itself with −∞ and torch.softmax: a token that may look nowhere gets NaN in weights and output. It should get zeros, as masked_attention gives.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_k = d_k
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        Q = self.W_Q(tokens)
        K = self.W_K(tokens)
        V = self.W_V(tokens)
        scores = torch.einsum("...id,...jd->...ij", Q, K) / self.d_k**0.5
        if mask is not None:
            scores = torch.where(mask, scores, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ V, weights

# %% [wrong] query_and_key_mixed_up | The unpacking is in the wrong order: W_K makes the queries and W_Q the keys. The scores are those of the right layer transposed, so who looks at whom is exchanged.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        key, query, value = [layer(tokens) for layer in (self.W_Q, self.W_K, self.W_V)]
        return masked_attention(query, key, value, mask=mask)

# %% [right] values_projected_last | First mixes the tokens with the weights and then applies W_V to the mixture, which is the same because W_V is linear and has no bias.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for letter in "QKV":
            self.add_module(f"W_{letter}", nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        mixture, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), tokens, mask)
        return self.W_V(mixture), weights
