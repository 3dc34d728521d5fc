# %% [wrong] mask_without_head_axis | A mask with a batch gets no axis for the heads, so its batch axis meets the heads.
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
        q, k, v = (split_heads(x, self.num_heads) for x in (self.W_Q(tokens), self.W_K(context), self.W_V(context)))
        _, weights = masked_attention(q, k, v, mask)
        heads = F.dropout(weights, self.p, self.training) @ v
        return self.W_O(merge_heads(heads)), weights

# %% [wrong] root_of_d_model | Divides the scores by √d_model in place of √d_head.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        width = d_context if d_context is not None else d_model
        self.num_heads = num_heads
        self.d_model = d_model
        self.drop = nn.Dropout(dropout)
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_model)
        if mask is not None:
            if mask.ndim > 2:
                mask = mask.unsqueeze(-3)
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
        return self.W_O(merge_heads(self.drop(weights) @ value)), weights

# %% [wrong] dropped_map_returned | Returns the weights after dropout; the map from before is asked for.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("no")
        self.num_heads, self.dropout = num_heads, dropout
        d_context = d_context or d_model
        self.W_Q, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in "QO")
        self.W_K, self.W_V = (nn.Linear(d_context, d_model, bias=False) for _ in "KV")

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query, key, value = (
            split_heads(layer(side), self.num_heads)
            for layer, side in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))
        )
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        weights = masked_attention(query, key, value, mask)[1]
        weights = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(weights @ value)), weights

# %% [wrong] dropout_never_off | Calls F.dropout without self.training, whose default is True: weights are dropped in evaluation as well.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads > 0:
            raise ValueError(f"d_model {d_model}, num_heads {num_heads}")
        if d_context is None:
            d_context = d_model
        self.num_heads = num_heads
        self.dropout = dropout
        for name, width in (("W_Q", d_model), ("W_K", d_context), ("W_V", d_context), ("W_O", d_model)):
            setattr(self, name, nn.Linear(width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        output = F.dropout(weights, p=self.dropout) @ value
        return self.W_O(merge_heads(output)), weights

# %% [wrong] no_output_projection | forward never uses W_O: the heads are joined, but not mixed.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model is no multiple of num_heads")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, nn.Dropout(dropout)
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        mask = mask[..., None, :, :] if mask is not None and mask.ndim > 2 else mask
        split = lambda x: split_heads(x, self.num_heads)
        value = split(self.W_V(context))
        weights = masked_attention(split(self.W_Q(tokens)), split(self.W_K(context)), value, mask)[1]
        return merge_heads(self.dropout(weights) @ value), weights

# %% [wrong] nan_where_nowhere | Own softmax over scores filled with −∞: a query that may attend nowhere gets NaN in place of zeros.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads={num_heads} does not divide d_model={d_model}")
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        d_context = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        q, k, v = self.W_Q(tokens), self.W_K(context), self.W_V(context)
        q, k, v = (x.unflatten(-1, (self.num_heads, self.d_head)) for x in (q, k, v))
        scores = torch.einsum("...thd,...shd->...hts", q, k) / self.d_head**0.5
        if mask is not None:
            scores = scores.masked_fill(~(mask if mask.ndim == 2 else mask.unsqueeze(-3)), -torch.inf)
        weights = scores.softmax(-1)
        out = torch.einsum("...hts,...shd->...thd", self.drop(weights), v).flatten(-2)
        return self.W_O(out), weights

# %% [right] einsum_throughout | Never swaps axes: einsums over (token, head, feature), and each head's columns of W_O in the last one.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{d_model} cannot be shared out among {num_heads} heads")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.d_head = d_head
        self.p = dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        cut = (self.num_heads, self.d_head)
        q, k, v = (y.unflatten(-1, cut) for y in (self.W_Q(tokens), self.W_K(source), self.W_V(source)))
        scores = torch.einsum("...thd,...shd->...hts", q, k) * self.d_head**-0.5
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            while mask.ndim < 2:
                mask = mask.unsqueeze(0)
            allowed = mask.unsqueeze(-3).expand_as(scores)
            top = scores.masked_fill(~allowed, -torch.inf).amax(-1, keepdim=True)
            top = torch.where(top.isinf(), torch.zeros_like(top), top)
            powers = torch.where(allowed, scores - top, torch.zeros_like(scores)).exp() * allowed
            total = powers.sum(-1, keepdim=True)
            weights = powers / torch.where(total == 0, torch.ones_like(total), total)
        mixed = torch.einsum("...hts,...shd->...thd", F.dropout(weights, self.p, self.training), v)
        columns = self.W_O.weight.unflatten(-1, cut)
        return torch.einsum("...thd,ohd->...to", mixed, columns), weights
