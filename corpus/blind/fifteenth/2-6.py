# %% [wrong] dropout_in_evaluation_too | F.dropout drops by default, because its argument training is True unless it is told otherwise. In evaluation mode nothing may be dropped: hand over self.training.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.p = dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        heads = F.dropout(weights, self.p) @ v
        return self.W_O(merge_heads(heads)), weights
# %% [wrong] one_mean_map_returned | The maps of the heads are averaged before they are returned, as nn.MultiheadAttention does by default. The weights of each head are asked for, (..., H, T, S).
class MultiHeadAttention(nn.Module):
    """Attention with several heads."""

    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_context is None:
            d_context = d_model
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        queries, keys, values = (
            split_heads(x, self.num_heads)
            for x in (self.W_Q(tokens), self.W_K(source), self.W_V(source))
        )
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        weights = masked_attention(queries, keys, values, mask)[1]
        output = self.W_O(merge_heads(self.drop(weights) @ values))
        return output, weights.mean(dim=-3)
# %% [wrong] heads_must_divide_the_context | It is checked whether num_heads divides d_context, and not d_model. A context of another width is refused though it is fine, and a d_model that cannot be split gets through. It is the projected width d_model that is split.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_context is None:
            d_context = d_model
        if d_context % num_heads != 0:
            raise ValueError(f"num_heads={num_heads} does not divide {d_context}")
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        H = self.num_heads
        Q, K, V = split_heads(self.W_Q(tokens), H), split_heads(self.W_K(context), H), split_heads(self.W_V(context), H)
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        out, weights = masked_attention(Q, K, V, mask)
        if self.training and self.dropout > 0:
            out = F.dropout(weights, self.dropout, True) @ V
        return self.W_O(merge_heads(out)), weights
