# %% [wrong] dropout_never_switched_off | F.dropout is called without self.training, so weights are dropped in evaluation mode, too.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.p = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        output = F.dropout(weights, self.p) @ value
        return self.W_O(merge_heads(output)), weights

# %% [wrong] heads_axis_counted_from_the_front | The mask gets its axis for the heads as axis 1, also where it has no batch: a mask (T, S) becomes (T, 1, S), and its queries meet the heads.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        width = d_context if d_context is not None else d_model
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        if mask is not None:
            mask = mask.unsqueeze(1)
        q, k, v = (
            split_heads(layer(x), self.num_heads)
            for layer, x in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))
        )
        _, weights = masked_attention(q, k, v, mask)
        return self.W_O(merge_heads(self.dropout(weights) @ v)), weights

# %% [wrong] dropout_on_what_comes_out | Dropout acts on the joined output of the heads, and not on the weights on their way to the values.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model is no multiple of num_heads")
        if d_context is None:
            d_context = d_model
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_K, self.W_V = (nn.Linear(d_context, d_model, bias=False) for _ in range(2))

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        seen, weights = masked_attention(
            split_heads(self.W_Q(tokens), self.num_heads),
            split_heads(self.W_K(source), self.num_heads),
            split_heads(self.W_V(source), self.num_heads),
            mask,
        )
        joined = F.dropout(merge_heads(seen), self.dropout, self.training)
        return self.W_O(joined), weights
