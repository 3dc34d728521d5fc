# %% [wrong] with_bias | bias=False is missing: each projection has a bias, and SelfAttention(8, 4) has 108 parameters instead of 96
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k)
        self.W_K = nn.Linear(d_model, d_k)
        self.W_V = nn.Linear(d_model, d_k)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] value_keeps_width | W_V goes from d_model to d_model instead of d_k, so the output is (..., T, d_model) and there are more parameters than 3 · d_model · d_k
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)  # so that a residual fits

    def forward(self, tokens, mask=None):
        q, k, v = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        return masked_attention(q, k, v, mask)

# %% [wrong] mask_forgotten | forward calls attention without the mask, so every token sees every token, and a token that may look nowhere does not get zeros
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = [nn.Linear(d_model, d_k, bias=False) for _ in range(3)]

    def forward(self, tokens, mask=None):
        return attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens))

# %% [wrong] shared_projection | W_Q and W_K are one and the same Linear (chained assignment), so the scores are symmetric and there are 2 · d_model · d_k parameters instead of 3
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask=mask)

# %% [wrong] own_W_O | There is a fourth matrix W_O behind the attention, which the task forbids (no other parameters): 112 parameters instead of 96, and the output is mixed once more
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        make = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_Q, self.W_K, self.W_V = make(d_model, d_k), make(d_model, d_k), make(d_model, d_k)
        self.W_O = make(d_k, d_k)

    def forward(self, tokens, mask=None):
        mixed, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return self.W_O(mixed), weights

# %% [wrong] other_names | The layers are called w_q, w_k, w_v instead of W_Q, W_K, W_V, so whoever reaches for layer.W_Q gets an AttributeError
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for name in ("w_q", "w_k", "w_v"):
            self.add_module(name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        q, k, v = (proj(tokens) for proj in (self.w_q, self.w_k, self.w_v))
        return masked_attention(q, k, v, mask)

# %% [right] children_loop | the three layers are registered in a loop, and forward goes over the children in their order
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for letter in "QKV":
            self.add_module(f"W_{letter}", nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        return masked_attention(*(project(tokens) for project in self.children()), mask=mask)
