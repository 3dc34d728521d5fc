# %% [wrong] with_bias | The projections are made with `nn.Linear`'s default, a bias each.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k)
        self.W_K = nn.Linear(d_model, d_k)
        self.W_V = nn.Linear(d_model, d_k)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)


# %% [wrong] mask_not_handed_on | The mask is taken and never used.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))

    def forward(self, tokens, mask=None):
        q = self.W_Q(tokens)
        k = self.W_K(tokens)
        v = self.W_V(tokens)
        return attention(q, k, v)


# %% [wrong] one_layer_three_names | The three names stand for one and the same layer: queries, keys and values are equal, and there is a third of the parameters.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)


# %% [wrong] no_super_init | `super().__init__()` is not called, so assigning the first layer raises an error.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        self.d_k = d_k
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        output, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return output, weights


# %% [wrong] values_from_keys_layer | The values are made by W_K: W_V exists and is never used.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        query = self.W_Q(tokens)
        key = self.W_K(tokens)
        value = self.W_K(tokens)
        return masked_attention(query, key, value, mask)


# %% [wrong] extra_output_layer | There is a fourth layer, an output projection as in a whole transformer: a parameter too many, and another output.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.W_O = nn.Linear(d_k, d_k, bias=False)

    def forward(self, tokens, mask=None):
        out, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return self.W_O(out), weights


# %% [right] add_module_loop | Registers the layers by name in a loop with `add_module`, and applies them in a comprehension.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for letter in "QKV":
            self.add_module(f"W_{letter}", nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        projected = [getattr(self, f"W_{letter}")(tokens) for letter in "QKV"]
        return masked_attention(*projected, mask=mask)
