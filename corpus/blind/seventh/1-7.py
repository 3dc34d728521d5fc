# %% [wrong] layers_in_a_list | The three layers stand in a plain Python list: there are no attributes W_Q, W_K, W_V, and the module does not know their parameters, so it has 0 and not 96.
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.projections = [nn.Linear(d_model, d_k, bias=False) for _ in range(3)]

    def forward(self, tokens, mask=None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        q, k, v = (p(tokens) for p in self.projections)
        return masked_attention(q, k, v, mask)

# %% [wrong] one_matrix_for_two | W_K is set to the same layer as W_Q, so queries and keys are equal and the scores symmetric; W_K must be a layer of its own, and 32 of the 96 parameters are missing.
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] values_not_projected | The tokens themselves are handed on as values and W_V is never used, so the output is d_model wide and W_V gets no gradient; it should be self.W_V(tokens).
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        query = self.W_Q(tokens)
        key = self.W_K(tokens)
        output, weights = masked_attention(query, key, tokens, mask)
        return output, weights

# %% [wrong] mask_left_behind | forward calls attention of 1.4, which knows no mask, so the mask is accepted and ignored; it should be masked_attention with the mask.
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        return attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens))

# %% [wrong] an_output_matrix_too | A fourth layer W_O mixes the output, as in the paper; the task wants W_Q, W_K, W_V and no other parameters, so there are 112 instead of 96 and the output is another one.
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, d_k, bias=False))
        self.W_O = nn.Linear(d_k, d_k, bias=False)

    def forward(self, tokens, mask=None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        mixed, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return self.W_O(mixed), weights

# %% [wrong] super_comes_last | super().__init__() is called after the layers are assigned; PyTorch then raises an AttributeError, because a module cannot take in parts before its own __init__ has run.
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        super().__init__()

    def forward(self, tokens, mask=None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [right] layers_by_name | registers the three layers in a loop over their names, and unpacks the projections into one call
class SelfAttention(nn.Module):
    """Tokens ask, and the same tokens answer."""

    def __init__(self, d_model, d_k):
        super().__init__()
        for name in ("W_Q", "W_K", "W_V"):
            self.add_module(name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        """tokens (..., T, d_model) → output (..., T, d_k), weights (..., T, T)"""
        return masked_attention(*(layer(tokens) for layer in (self.W_Q, self.W_K, self.W_V)), mask=mask)
