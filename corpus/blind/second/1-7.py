# %% [right] setattr_and_map | right
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        nn.Module.__init__(self)
        for letter in "QKV":
            setattr(self, f"W_{letter}", nn.Linear(in_features=d_model, out_features=d_k, bias=False))

    def forward(self, tokens, mask=None):
        query, key, value = map(lambda layer: layer(tokens), (self.W_Q, self.W_K, self.W_V))
        output, weights = masked_attention(query, key, value, mask=mask)
        return output, weights

# %% [wrong] bias | The projections have a bias.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k)
        self.W_K = nn.Linear(d_model, d_k)
        self.W_V = nn.Linear(d_model, d_k)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] mask_not_handed_on | The mask is not handed on to masked_attention.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens))

# %% [wrong] one_layer_for_q_and_k | Keys are made with W_Q, so the scores are symmetric and W_K is never used.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_Q(tokens), self.W_V(tokens), mask)

# %% [wrong] values_not_projected | The tokens themselves serve as values; W_V is not used.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), tokens, mask)

# %% [wrong] q_and_k_exchanged | Queries and keys are exchanged: W_K asks and W_Q answers.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_K(tokens), self.W_Q(tokens), self.W_V(tokens), mask)

# %% [wrong] output_projection | There is a fourth matrix W_O, though three projections are the only parameters.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.W_O = nn.Linear(d_k, d_k, bias=False)

    def forward(self, tokens, mask=None):
        output, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return self.W_O(output), weights

# %% [wrong] residual | The tokens are added to the output where the widths allow it.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        output, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        if output.shape == tokens.shape:
            output = output + tokens
        return output, weights

# %% [wrong] new_layers_in_forward | The projections are drawn anew in each forward pass, so nothing can be learned.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.sizes = (d_model, d_k)
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(*self.sizes, bias=False))
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] value_width_d_model | W_V goes from d_model to d_model, so the output is not d_k wide.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] output_only | Only the output is returned.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)[0]
