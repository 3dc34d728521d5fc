# %% [wrong] keys_share_the_queries_layer | self.W_K is the same layer as self.W_Q; it should be one of its own. There are 2 · d_model · d_k parameters in place of 3, and the scores are symmetric.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] an_output_projection | There is a fourth layer W_O after the mix, as multi-head attention has; the task says three projections and no other parameters. The output is not the mix of the values.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)
        self.W_O = nn.Linear(d_k, d_k, bias=False)

    def forward(self, tokens, mask=None):
        seen, weights = masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)
        return self.W_O(seen), weights

# %% [wrong] scaled_twice | The query is divided by √d_k before masked_attention, which divides once more; it should be handed over as it is. The scores are divided by d_k, and the weights are too even.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_k = d_k
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        query = self.W_Q(tokens) / math.sqrt(self.d_k)
        return masked_attention(query, self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] nan_for_hidden_rows | The softmax is torch.softmax over scores with −∞; it should be stable_softmax (or masked_attention). A token that may look nowhere gets NaN in place of zeros.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Linear(d_model, d_k, bias=False) for _ in range(3))

    def forward(self, tokens, mask=None):
        scores = scaled_scores(self.W_Q(tokens), self.W_K(tokens))
        if mask is not None:
            scores = torch.where(mask, scores, torch.full_like(scores, -math.inf))
        weights = F.softmax(scores, dim=-1)
        return weights @ self.W_V(tokens), weights

# %% [wrong] a_batch_out_of_nothing | A two-axis mask is expanded to len(tokens) copies, as if the first axis were always the batch; it broadcasts by itself. Tokens (T, d_model) without a batch come back as (T, T, d_k).
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_Q = nn.Linear(d_model, d_k, bias=False)
        self.W_K = nn.Linear(d_model, d_k, bias=False)
        self.W_V = nn.Linear(d_model, d_k, bias=False)

    def forward(self, tokens, mask=None):
        if mask is not None and mask.ndim == 2:
            mask = mask.unsqueeze(0).expand(len(tokens), -1, -1)
        return masked_attention(self.W_Q(tokens), self.W_K(tokens), self.W_V(tokens), mask)

# %% [wrong] one_matrix_for_all_three | One nn.Linear(d_model, 3 · d_k) named W_QKV makes all three; the task wants W_Q, W_K and W_V by these names. The numbers would be right, but layer.W_Q does not exist.
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_QKV = nn.Linear(d_model, 3 * d_k, bias=False)  # one large product is faster

    def forward(self, tokens, mask=None):
        query, key, value = self.W_QKV(tokens).chunk(3, dim=-1)
        return masked_attention(query, key, value, mask)

# %% [right] registered_in_a_loop | The three layers are registered by name in a loop, and read back in the same order.
class SelfAttention(nn.Module):
    NAMES = ("W_Q", "W_K", "W_V")

    def __init__(self, d_model, d_k):
        super().__init__()
        for name in self.NAMES:
            self.add_module(name, nn.Linear(d_model, d_k, bias=False))

    def forward(self, tokens, mask=None):
        query, key, value = (getattr(self, name)(tokens) for name in self.NAMES)
        return masked_attention(query, key, value, mask=mask)
