# %% [wrong] dropout_never_sleeps | F.dropout is called without self.training, and its default is training=True, so weights are dropped in evaluation mode as well; the third argument is missing.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.p = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        heads = F.dropout(weights, self.p) @ v
        return self.W_O(merge_heads(heads)), weights

# %% [wrong] one_map_for_all_heads | The weights are averaged over the heads before they are returned, as nn.MultiheadAttention does by default; they must be (..., H, T, S).
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{d_model} is not divisible by {num_heads}")
        width = d_context if d_context is not None else d_model
        self.num_heads = num_heads
        self.dropout = dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        query, key, value = (
            split_heads(x, self.num_heads) for x in (self.W_Q(tokens), self.W_K(context), self.W_V(context))
        )
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        mixed = F.dropout(weights, self.dropout, self.training) @ value
        return self.W_O(merge_heads(mixed)), weights.mean(dim=-3)

# %% [wrong] batches_meet_heads | A mask with a batch is handed on without an axis for the heads, so its batch axis meets the head axis of the scores: an error for B ≠ H, and silently wrong for B = H. mask.unsqueeze(-3) is missing.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model is no multiple of num_heads")
        self.num_heads, self.dropout = num_heads, dropout
        d_context = d_context or d_model
        for name, d_in in {"W_Q": d_model, "W_K": d_context, "W_V": d_context, "W_O": d_model}.items():
            setattr(self, name, nn.Linear(d_in, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(source), self.num_heads)
        v = split_heads(self.W_V(source), self.num_heads)
        _, weights = masked_attention(q, k, v, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ v)), weights

# %% [wrong] the_root_twice | The queries are divided by the root of d_head, and masked_attention divides by it once more, so the scores are divided by d_head and all maps are too even.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads does not divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        d_head = tokens.shape[-1] // self.num_heads
        query = split_heads(self.W_Q(tokens), self.num_heads) / math.sqrt(d_head)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        output = F.dropout(weights, self.dropout, self.training) @ value
        return self.W_O(merge_heads(output)), weights

# %% [wrong] context_or_tokens | "context or tokens" asks a tensor for its truth value and raises a RuntimeError as soon as a context is handed in; it should be "tokens if context is None else context".
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model % num_heads must be 0")
        d_context = d_context or d_model
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = context or tokens
        q, k, v = self.W_Q(tokens), self.W_K(context), self.W_V(context)
        q, k, v = (split_heads(each, self.num_heads) for each in (q, k, v))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        weights = masked_attention(q, k, v, mask)[1]
        out = merge_heads(F.dropout(weights, self.dropout, self.training) @ v)
        return self.W_O(out), weights

# %% [wrong] remainder_the_wrong_way | The check computes num_heads % d_model, which is not 0 for any usual layer, so MultiHeadAttention(32, 4) raises a ValueError; it should be d_model % num_heads.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if num_heads % d_model != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        return self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights

# %% [right] everything_by_einsum | its own split and merge by unflatten and one einsum, the provided masked_attention for the weights
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {d_model}")
        self.num_heads, self.dropout = num_heads, dropout
        widths = {"W_Q": d_model, "W_K": d_context, "W_V": d_context, "W_O": d_model}
        for name, width in widths.items():
            self.add_module(name, nn.Linear(d_model if width is None else width, d_model, bias=False))

    def _heads(self, projected):
        return projected.unflatten(-1, (self.num_heads, -1)).movedim(-2, -3)

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        query, key, value = map(self._heads, (self.W_Q(tokens), self.W_K(source), self.W_V(source)))
        for_heads = mask.unsqueeze(-3) if mask is not None and mask.ndim > 2 else mask
        weights = masked_attention(query, key, value, for_heads)[1]
        kept = F.dropout(weights, p=self.dropout, training=self.training)
        together = torch.einsum("...hts,...hsd->...thd", kept, value).flatten(-2)
        return self.W_O(together), weights
