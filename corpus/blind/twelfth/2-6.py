# %% [wrong] dropout_never_off | F.dropout is called without `training`, whose default is True: weights are dropped in evaluation, too
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
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        heads = F.dropout(weights, self.p) @ value
        return self.W_O(merge_heads(heads)), weights


# %% [wrong] dropped_weights_returned | the name `weights` is overwritten by the dropped weights, so those after dropout are returned and not those before
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        self.drop = nn.Dropout(dropout)
        widths = {"W_Q": d_model, "W_K": d_context or d_model, "W_V": d_context or d_model, "W_O": d_model}
        for name, width in widths.items():
            setattr(self, name, nn.Linear(width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        q, k, v = (
            split_heads(x, self.num_heads) for x in (self.W_Q(tokens), self.W_K(source), self.W_V(source))
        )
        weights = masked_attention(q, k, v, None if mask is None else mask.unsqueeze(-3))[1]
        weights = self.drop(weights)
        output = torch.einsum("...hts,...hsd->...htd", weights, v)
        return self.W_O(merge_heads(output)), weights


# %% [wrong] mask_axis_from_the_front | the axis for the heads is put at position 1 of the mask: right for (B, T, S), but (T, S) becomes (T, 1, S), whose first axis is then taken for the heads: an error or a wrong mask
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be a multiple of num_heads")
        d_context = d_context if d_context is not None else d_model
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_K, self.W_V = (nn.Linear(d_context, d_model, bias=False) for _ in range(2))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        Q = split_heads(self.W_Q(tokens), self.num_heads)
        K = split_heads(self.W_K(context), self.num_heads)
        V = split_heads(self.W_V(context), self.num_heads)
        if mask is not None:
            mask = mask.unsqueeze(1)  # (B, 1, T, S)
        output, weights = masked_attention(Q, K, V, mask)
        if self.training and self.dropout > 0:
            output = F.dropout(weights, self.dropout, True) @ V
        return self.W_O(merge_heads(output)), weights


# %% [wrong] root_of_d_model | the scores of the heads are divided by the root of d_model, but a query of a head is only d_head wide: the maps are too even by a factor of √H in the scores
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        self.d_model = d_model
        self.num_heads = num_heads
        self.attn_drop = nn.Dropout(dropout)
        d_context = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        shape = (self.num_heads, self.d_model // self.num_heads)
        q = self.W_Q(tokens).unflatten(-1, shape)
        k = self.W_K(context).unflatten(-1, shape)
        v = self.W_V(context).unflatten(-1, shape)
        scores = torch.einsum("...thd,...shd->...hts", q, k) / math.sqrt(self.d_model)
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(-3), -math.inf)
        weights = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)
        mixed = torch.einsum("...hts,...shd->...thd", self.attn_drop(weights), v)
        return self.W_O(mixed.flatten(-2)), weights


# %% [wrong] mean_map | the maps of the heads are averaged before they are returned, as nn.MultiheadAttention does by default: (..., T, S) and not (..., H, T, S)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads must be equally wide")
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        linear = lambda width: nn.Linear(width, d_model, bias=False)
        d_context = d_context or d_model
        self.W_Q, self.W_K, self.W_V, self.W_O = map(linear, (d_model, d_context, d_context, d_model))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        queries, keys, values = (
            torch.stack(x.chunk(self.num_heads, dim=-1), dim=-3)
            for x in (self.W_Q(tokens), self.W_K(context), self.W_V(context))
        )
        mask = mask if mask is None else mask[..., None, :, :]
        _, weights = masked_attention(queries, keys, values, mask)
        output = self.W_O(merge_heads(self.dropout(weights) @ values))
        return output, weights.mean(dim=-3)


# %% [right] head_by_head | a loop over the heads: each calls masked_attention on its own block of the projected tokens, with the mask as it is, and its columns of W_O are added up
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads cannot share {d_model} numbers")
        self.num_heads, self.dropout = num_heads, dropout
        wide = d_model if d_context is None else d_context
        for letter, width in zip("QKVO", (d_model, wide, wide, d_model)):
            self.add_module(f"W_{letter}", nn.Linear(width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        projected = (self.W_Q(tokens), self.W_K(source), self.W_V(source))
        blocks = zip(*(x.chunk(self.num_heads, dim=-1) for x in projected), self.W_O.weight.chunk(self.num_heads, dim=1))
        output, maps = 0, []
        for query, key, value, columns in blocks:
            _, weights = masked_attention(query, key, value, mask)
            maps.append(weights)
            output = output + F.dropout(weights, self.dropout, self.training) @ value @ columns.T
        return output, torch.stack(maps, dim=-3)
