# %% [wrong] root_of_d_model | The scores are divided by √d_model instead of √d_head, so the weights of all heads are too flat (for more than one head)
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
        q, k, v = (split_heads(t, self.num_heads) for t in (self.W_Q(tokens), self.W_K(context), self.W_V(context)))
        scores = q @ k.transpose(-2, -1) / math.sqrt(tokens.shape[-1])
        if mask is not None:
            mask = mask if mask.ndim < 3 else mask.unsqueeze(-3)
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1).nan_to_num(0.0)
        dropped = F.dropout(weights, self.p, self.training)
        return self.W_O(merge_heads(dropped @ v)), weights

# %% [wrong] mask_without_head_axis | A mask with a batch, (B, T, S), is handed on as it is, without unsqueeze(-3): its batch meets the heads, an error or, for B = H, the wrong masks in silence
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads do not fit into {d_model}")
        d_context = d_context or d_model
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        h = self.num_heads
        q, k, v = split_heads(self.W_Q(tokens), h), split_heads(self.W_K(context), h), split_heads(self.W_V(context), h)
        _, weights = masked_attention(q, k, v, mask)
        return self.W_O(merge_heads(self.dropout(weights) @ v)), weights

# %% [wrong] dropped_weights_returned | The weights that come back are those after the dropout, because the name is overwritten: in training mode the maps have zeros and rows that do not sum to 1
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model % num_heads != 0")
        src = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_K, self.W_V = (nn.Linear(src, d_model, bias=False) for _ in range(2))

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(source), self.num_heads)
        v = split_heads(self.W_V(source), self.num_heads)
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        weights = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(weights @ v)), weights

# %% [wrong] dropout_always | F.dropout is called without self.training, whose default is True, so weights are dropped in evaluation mode as well
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.rate = num_heads, dropout
        for name, width in dict(W_Q=d_model, W_K=d_context, W_V=d_context, W_O=d_model).items():
            setattr(self, name, nn.Linear(width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q, k, v = [split_heads(lin(x), self.num_heads)
                   for lin, x in [(self.W_Q, tokens), (self.W_K, context), (self.W_V, context)]]
        if mask is not None and mask.ndim > 2:
            mask = mask[..., None, :, :]
        _, weights = masked_attention(q, k, v, mask)
        return self.W_O(merge_heads(F.dropout(weights, self.rate) @ v)), weights

# %% [wrong] W_O_forgotten | W_O is made but forward returns the merged heads without it, so what each head brings stays in its own columns
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model}, num_heads={num_heads}")
        kv = d_context if d_context is not None else d_model
        self.num_heads = num_heads
        self.drop = nn.Dropout(dropout)
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(kv, d_model, bias=False)
        self.W_V = nn.Linear(kv, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        memory = tokens if context is None else context
        q, k, v = (split_heads(t, self.num_heads) for t in (self.W_Q(tokens), self.W_K(memory), self.W_V(memory)))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        weights = masked_attention(q, k, v, mask)[1]
        return merge_heads(self.drop(weights) @ v), weights

# %% [wrong] assert_not_raise_and_mask_nan | An assert stands in place of the ValueError, so num_heads that do not divide raise an AssertionError; AND the plain softmax gives NaN instead of zeros to a query that may attend nowhere
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        assert d_model % num_heads == 0, "num_heads must divide d_model"
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
        s = q @ k.mT / k.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(~(mask.unsqueeze(-3) if mask.ndim > 2 else mask), float("-inf"))
        w = torch.softmax(s, -1)
        return self.W_O(merge_heads(F.dropout(w, self.dropout, self.training) @ v)), w

# %% [right] einsum_heads | the four layers by a loop over letters, heads as an axis h in einsums, hidden rows mended before the softmax
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads = {num_heads} does not divide d_model = {d_model}")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.share_dropped = num_heads, dropout
        for letter, width in zip("QKVO", (d_model, d_context, d_context, d_model)):
            self.add_module(f"W_{letter}", nn.Linear(width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query, key, value = (
            layer(given).unflatten(-1, (self.num_heads, -1))  # (..., n, H, d_head)
            for layer, given in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))
        )
        scores = torch.einsum("...thd,...shd->...hts", query, key) / math.sqrt(query.shape[-1])
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            allowed = mask.unsqueeze(-3) if mask.ndim > 2 else mask
            nowhere = ~allowed.any(dim=-1, keepdim=True)
            weights = scores.masked_fill(~(allowed | nowhere), -math.inf).softmax(dim=-1).masked_fill(nowhere, 0.0)
        used = F.dropout(weights, self.share_dropped, self.training)
        mixed = torch.einsum("...hts,...shd->...thd", used, value)
        return self.W_O(mixed.flatten(-2)), weights
