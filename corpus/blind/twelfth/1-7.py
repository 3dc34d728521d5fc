# %% [wrong] with_bias | the projections keep the bias that nn.Linear has by default: 3 · 4 parameters too many, and Q, K and V are shifted
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, d_k))

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)


# %% [wrong] one_layer_three_names | the chained assignment makes one single layer with three names: a third of the parameters, Q = K = V, and the scores are symmetric
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        query = self.W_Q(tokens)
        key = self.W_K(tokens)
        value = self.W_V(tokens)
        return masked_attention(query, key, value, mask)


# %% [wrong] mask_left_behind | forward accepts the mask but never hands it on to masked_attention: everything may be looked at
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        make = lambda: nn.Linear(d_model, d_k, bias=False)
        self.W_Q, self.W_K, self.W_V = make(), make(), make()

    def forward(self, tokens, mask=None):
        query, key, value = (W(tokens) for W in (self.W_Q, self.W_K, self.W_V))
        output, weights = masked_attention(query, key, value)
        return output, weights


# %% [wrong] bare_matrices | the projections are nn.Parameter matrices (d_model, d_k) and no nn.Linear: the number of parameters is right, but there is no W_Q.weight, and the layers cannot be called
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Parameter(torch.randn(d_model, d_k) / math.sqrt(d_model))
        self.W_K = nn.Parameter(torch.randn(d_model, d_k) / math.sqrt(d_model))
        self.W_V = nn.Parameter(torch.randn(d_model, d_k) / math.sqrt(d_model))

    def forward(self, tokens, mask=None):
        Q, K, V = tokens @ self.W_Q, tokens @ self.W_K, tokens @ self.W_V
        return masked_attention(Q, K, V, mask=mask)


# %% [wrong] nan_where_nothing_is_allowed | the attention is written anew with torch.softmax and without masked_attention: a token that may look nowhere gets NaN in weights and output, not zeros
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_k = d_k
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        scores = torch.einsum("...id,...jd->...ij", self.W_Q(tokens), self.W_K(tokens)) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ self.W_V(tokens), weights


# %% [right] children_in_order | the projections are registered with add_module, and forward goes over self.children(), whose order is that of Q, K and V
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for letter in "QKV":
            self.add_module(f"W_{letter}", nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        return masked_attention(*[project(tokens) for project in self.children()], mask=mask)
