# %% [wrong] mask_without_head_axis | a mask with a batch, (B, T, S), is handed to the split heads as it is, so its batch meets the head axis: an error, or silently wrong where B = H; unsqueeze(-3) is missing
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
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        _, weights = masked_attention(q, k, v, mask)
        out = F.dropout(weights, self.p, self.training) @ v
        return self.W_O(merge_heads(out)), weights

# %% [wrong] dropout_always_on | F.dropout is called without self.training, whose default is True: weights are dropped in evaluation mode, too
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.dropout = dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K, self.W_V = (nn.Linear(d_context, d_model, bias=False) for _ in range(2))
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        query, key, value = (
            split_heads(part, self.num_heads) for part in (self.W_Q(tokens), self.W_K(context), self.W_V(context))
        )
        weights = masked_attention(query, key, value, mask)[1]
        dropped = F.dropout(weights, self.dropout)
        return self.W_O(merge_heads(dropped @ value)), weights

# %% [wrong] returns_dropped_weights | the weights that come back are those after dropout: in training mode with dropout, some are 0 and rows do not sum to 1; those before dropout are asked
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("not divisible")
        self.num_heads = num_heads
        self.drop = nn.Dropout(dropout)
        width = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        q, k, v = self.W_Q(tokens), self.W_K(source), self.W_V(source)
        q, k, v = [split_heads(x, self.num_heads) for x in (q, k, v)]
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        weights = self.drop(weights)
        return self.W_O(merge_heads(weights @ v)), weights

# %% [wrong] root_of_d_model | the scores are divided by √d_model and not by √d_head: with 4 heads they are half as large as they should be and the maps too even
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads does not divide d_model")
        d_context = d_context or d_model
        self.num_heads, self.d_model, self.dropout = num_heads, d_model, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_model)
        if mask is not None:
            mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ v)), weights

# %% [wrong] heads_averaged_map | the weights are averaged over the heads, (..., T, S), as nn.MultiheadAttention does by default; the maps of all heads, (..., H, T, S), are asked
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model % num_heads")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        mask = mask.unsqueeze(-3) if mask is not None and mask.ndim > 2 else mask
        heads = [split_heads(w(x), self.num_heads) for w, x in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))]
        _, weights = masked_attention(*heads, mask)
        output = F.dropout(weights, self.dropout, self.training) @ heads[2]
        return self.W_O(merge_heads(output)), weights.mean(dim=-3)

# %% [wrong] context_for_queries | with a context the queries are made from the context as well (W_Q reads it): as many rows as patches come back, or an error where the widths differ; the tokens should ask
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        x = tokens if context is None else context
        q, k, v = (split_heads(w(x), self.num_heads) for w in (self.W_Q, self.W_K, self.W_V))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        mixed = F.dropout(weights, self.dropout, self.training) @ v
        return self.W_O(merge_heads(mixed)), weights

# %% [right] einsum_over_heads | the heads stay in the axis where unflatten puts them, and two einsums do scores and mixing; empty rows are zeroed with masked_fill
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model = {d_model} cannot be split into {num_heads} equal heads")
        self.num_heads, self.dropout = num_heads, dropout
        source = d_model if d_context is None else d_context
        for name, width in (("W_Q", d_model), ("W_K", source), ("W_V", source), ("W_O", d_model)):
            setattr(self, name, nn.Linear(width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        cut = (self.num_heads, -1)
        query = self.W_Q(tokens).unflatten(-1, cut)
        key, value = self.W_K(context).unflatten(-1, cut), self.W_V(context).unflatten(-1, cut)
        scores = torch.einsum("...thd,...shd->...hts", query, key) / math.sqrt(query.shape[-1])
        if mask is not None:
            forbidden = ~(mask.unsqueeze(-3) if mask.ndim > 2 else mask)
            scores = scores.masked_fill(forbidden, torch.finfo(scores.dtype).min)
            weights = torch.softmax(scores, dim=-1).masked_fill(forbidden, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        kept = F.dropout(weights, self.dropout, self.training)
        output = torch.einsum("...hts,...shd->...thd", kept, value)
        return self.W_O(output.flatten(-2)), weights
