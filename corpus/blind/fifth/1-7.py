# %% [wrong] with_bias | nn.Linear has a bias by default; bias=False is missing, so SelfAttention(8, 4) has 108 parameters and not 96
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k)
        self.W_K = nn.Linear(d_model, d_k)
        self.W_V = nn.Linear(d_model, d_k)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] one_matrix_for_two | W_K is the same layer as W_Q, so the scores are symmetric and 32 parameters are missing; it should be a layer of its own
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        q, k, v = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        return masked_attention(q, k, v, mask)

# %% [wrong] mask_forgotten | forward takes the mask and never hands it on to masked_attention, so every token sees everything
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        output, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens))
        return output, weights

# %% [wrong] reads_the_query | W_V reads the projected query and not the tokens: it raises an error where d_k differs from d_model, and is a different layer where they agree
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        x = self.W_Q(tokens)
        k = self.W_K(tokens)
        v = self.W_V(x)
        return masked_attention(x, k, v, mask)

# %% [wrong] plain_list | the layers stand in a plain Python list, so the module has no W_Q, W_K, W_V and no parameters at all: nothing would be trained
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.projections = [nn.Linear(d_model, d_k, bias=False) for _ in range(3)]

    def forward(self, tokens, mask=None):
        query, key, value = [layer(tokens) for layer in self.projections]
        return masked_attention(query, key, value, mask)

# %% [wrong] residual_inside | the tokens' values are added to the output (a residual that nobody asked for); the output should be the weighted mean alone
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        value = self.W_V(tokens)
        out, attn = masked_attention(self.W_Q(tokens), self.W_K(tokens), value, mask)
        return out + value, attn

# %% [right] named_generator | the three layers are made by one generator expression and applied in one, no line is written three times
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d_k, bias=False) for _ in "QKV")

    def forward(self, tokens, mask=None):
        projected = (layer(tokens) for layer in (self.W_Q, self.W_K, self.W_V))
        return masked_attention(*projected, mask=mask)
