# %% [wrong] one_layer_under_two_names | W_K is the same layer as W_Q, so there are two matrices instead of three, and scores are symmetric.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] causal_unless_told_otherwise | Without a mask the layer lays a causal one over the tokens, though without a mask everybody may look everywhere.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        if mask is None:
            mask = causal_mask(tokens.shape[-2]).to(tokens.device)
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] forward_without_gradients | forward runs under torch.no_grad(), so that the three projections get no gradient and cannot learn.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        for name in ("W_Q", "W_K", "W_V"):
            self.add_module(name, nn.Linear(d_model, d_k, bias=False))

    @torch.no_grad()
    def forward(self, tokens, mask=None):
        query, key, value = self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens)
        output, weights = masked_attention(query, key, value, mask)
        return output, weights
