# %% [right] everything_by_hand | right
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.d_head, rest = divmod(d_model, num_heads)
        if rest != 0:
            raise ValueError("d_model must be a multiple of num_heads")
        wide = d_context or d_model
        for name, d_in in {"W_Q": d_model, "W_K": wide, "W_V": wide, "W_O": d_model}.items():
            setattr(self, name, nn.Linear(d_in, d_model, bias=False))
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        heads = (self.num_heads, self.d_head)
        q = self.W_Q(tokens).unflatten(-1, heads)
        k, v = (layer(context).unflatten(-1, heads) for layer in (self.W_K, self.W_V))
        scores = torch.einsum("...thd,...shd->...hts", q, k) / math.sqrt(self.d_head)
        if mask is not None:
            if mask.ndim >= 3:
                mask = mask[..., None, :, :]
            scores = torch.where(mask, scores, -math.inf)
        weights = scores.softmax(dim=-1).nan_to_num(0.0)
        mixed = torch.einsum("...hts,...shd->...thd", self.drop(weights), v)
        return self.W_O(mixed.flatten(-2)), weights

# %% [wrong] bias_left_on | The projections have a bias (the default of nn.Linear).
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model)
        self.W_K = nn.Linear(d_context, d_model)
        self.W_V = nn.Linear(d_context, d_model)
        self.W_O = nn.Linear(d_model, d_model)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ value)), weights

# %% [wrong] mask_without_head_axis | A mask with a batch axis gets no axis for the heads, so batches meet heads.
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
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ value)), weights

# %% [wrong] scaled_by_d_model | The scores are scaled by the root of d_model instead of d_head.
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
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query * (query.shape[-1] / self.W_Q.out_features) ** 0.5, key, value, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ value)), weights

# %% [wrong] no_w_o | W_O is made but never applied to the merged heads.
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
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return merge_heads(dropped @ value), weights

# %% [wrong] context_ignored | Keys and values are made from the tokens even when a context is given.
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
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(tokens), self.num_heads)
        value = split_heads(self.W_V(tokens), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ value)), weights

# %% [wrong] dropped_weights_returned | The weights after dropout are returned.
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
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ value)), dropped

# %% [wrong] dropout_always_on | F.dropout is called without self.training, so weights are dropped in evaluation mode as well.
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
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout)
        return self.W_O(merge_heads(dropped @ value)), weights

# %% [wrong] dropout_on_output | Dropout acts on the output of the layer instead of the weights.
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
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        output = self.W_O(merge_heads(weights @ value))
        return F.dropout(output, self.dropout, self.training), weights

# %% [wrong] query_reshaped | The queries are reshaped straight to (H, T, d_head) without a swap, keys and values are split rightly.
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
        query = self.W_Q(tokens)
        query = query.reshape(*query.shape[:-2], self.num_heads, query.shape[-2], -1)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ value)), weights

# %% [wrong] no_value_error | There is no check that num_heads divides d_model.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
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
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ value)), weights

# %% [wrong] weights_averaged | The weights are averaged over the heads, as nn.MultiheadAttention does by default.
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
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ value)), weights.mean(-3)

# %% [wrong] context_width_ignored | W_K and W_V read d_model numbers, whatever d_context is.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ value)), weights
