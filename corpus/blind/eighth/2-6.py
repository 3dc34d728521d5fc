# %% [wrong] dropout_never_off | F.dropout is called without self.training, and its default is training=True; nothing may be dropped in evaluation mode. Outputs are random after eval().
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key, value = (split_heads(W(context), self.num_heads) for W in (self.W_K, self.W_V))
        _, weights = masked_attention(query, key, value, mask)
        heads = F.dropout(weights, self.dropout) @ value
        return self.W_O(merge_heads(heads)), weights

# %% [wrong] one_map_for_all_heads | The weights come back averaged over the heads, (..., T, S), as nn.MultiheadAttention does; it should be a map for each head, (..., H, T, S).
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        width = d_context if d_context is not None else d_model
        self.num_heads = num_heads
        self.drop = nn.Dropout(dropout)
        self.W_Q, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_K, self.W_V = (nn.Linear(width, d_model, bias=False) for _ in range(2))

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        value = split_heads(self.W_V(source), self.num_heads)
        _, weights = masked_attention(
            split_heads(self.W_Q(tokens), self.num_heads), split_heads(self.W_K(source), self.num_heads), value, mask
        )
        output = self.W_O(merge_heads(self.drop(weights) @ value))
        return output, weights.mean(dim=-3)

# %% [wrong] head_axis_in_second_place | The mask gets its axis for the heads with unsqueeze(1) in every case; it should be the third place from the end. Right for (B, T, S); a causal (T, T) becomes (T, 1, T), which hides by head (or batch) and not by query, or raises an error.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be a multiple of num_heads")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.p = num_heads, dropout
        for name, width in (("W_Q", d_model), ("W_K", d_context), ("W_V", d_context), ("W_O", d_model)):
            setattr(self, name, nn.Linear(width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query, key, value = (
            split_heads(W(x), self.num_heads)
            for W, x in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))
        )
        mask = mask if mask is None else mask.unsqueeze(1)  # (B, 1, T, S): the same for all heads
        output, weights = masked_attention(query, key, value, mask)
        if self.p and self.training:
            output = F.dropout(weights, self.p, True) @ value
        return self.W_O(merge_heads(output)), weights

# %% [wrong] truth_of_a_tensor | context = context or tokens asks for the truth value of a tensor; it should be a test for None. As soon as a context is given, a RuntimeError is raised.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads does not divide d_model")
        d_context = d_context or d_model
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = context or tokens
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        H = self.num_heads
        q, k, v = split_heads(self.W_Q(tokens), H), split_heads(self.W_K(context), H), split_heads(self.W_V(context), H)
        _, weights = masked_attention(q, k, v, mask)
        out = F.dropout(weights, self.dropout, self.training) @ v
        return self.W_O(merge_heads(out)), weights

# %% [wrong] scaled_before_and_inside | The query is divided by √d_head, and masked_attention divides once more; it should be scaled once. The scores are divided by d_head, and all maps are too even.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        self.d_head, left_over = divmod(d_model, num_heads)
        if left_over:
            raise ValueError(f"d_model = {d_model}, num_heads = {num_heads}")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q, self.W_O = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model, bias=False)
        self.W_K, self.W_V = nn.Linear(d_context, d_model, bias=False), nn.Linear(d_context, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        query = split_heads(self.W_Q(tokens), self.num_heads) / math.sqrt(self.d_head)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ value)), weights

# %% [wrong] only_too_many_heads_raise | The ValueError comes only where there are more heads than numbers; it should come wherever num_heads does not divide d_model. MultiHeadAttention(10, 4) is made without a word, and fails (or not) later.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if num_heads < 1 or num_heads > d_model:
            raise ValueError(f"cannot split {d_model} numbers into {num_heads} heads")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        _, weights = masked_attention(query, key, value, mask)
        return self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ value)), weights

# %% [right] layers_from_a_table | The four layers are made from a table of widths; the mask is lifted over the heads by a helper, and dropout acts on a copy of the weights.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_model} numbers evenly")
        source = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        for name, width in {"W_Q": d_model, "W_K": source, "W_V": source, "W_O": d_model}.items():
            self.add_module(name, nn.Linear(width, d_model, bias=False))

    @staticmethod
    def _over_heads(mask):
        return mask if mask is None or mask.ndim < 3 else mask.unsqueeze(-3)

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        query, key, value = (
            split_heads(layer(given), self.num_heads)
            for layer, given in ((self.W_Q, tokens), (self.W_K, source), (self.W_V, source))
        )
        _, weights = masked_attention(query, key, value, self._over_heads(mask))
        kept = F.dropout(weights, p=self.dropout, training=self.training)
        return self.W_O(merge_heads(kept @ value)), weights
