# %% [wrong] mask_without_head_axis | A mask with a batch, (B, T, S), gets no axis for the heads: the batches of the mask meet the heads, in silence or with an error.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.dropout = dropout
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
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ v)), weights


# %% [wrong] weights_after_dropout | While training it returns the weights after dropout; a map must show those before.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} does not divide {d_model}")
        if d_context is None:
            d_context = d_model
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        q, k, v = (
            split_heads(layer(x), self.num_heads)
            for layer, x in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))
        )
        _, weights = masked_attention(q, k, v, mask)
        weights = self.drop(weights)
        return self.W_O(merge_heads(weights @ v)), weights


# %% [wrong] dropout_in_evaluation | `F.dropout` is called without `self.training`; its default is True, so weights are dropped in evaluation as well.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model % num_heads")
        d_context = d_context if d_context is not None else d_model
        self.num_heads, self.p = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        Q = split_heads(self.W_Q(tokens), self.num_heads)
        K = split_heads(self.W_K(source), self.num_heads)
        V = split_heads(self.W_V(source), self.num_heads)
        weights = masked_attention(Q, K, V, mask)[1]
        heads = F.dropout(weights, self.p) @ V
        return self.W_O(merge_heads(heads)), weights


# %% [wrong] no_output_mixing | W_O is made and never applied: what a head brings stays in its own columns.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.dropout = dropout
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
        output, weights = masked_attention(query, key, value, mask)
        if self.training and self.dropout > 0:
            output = F.dropout(weights, self.dropout) @ value
        return merge_heads(output), weights


# %% [wrong] root_of_d_model | Writes its own attention and divides by √d_model; a head compares vectors of d_head numbers.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be a multiple of num_heads")
        self.d_model, self.num_heads, self.dropout = d_model, num_heads, dropout
        d_context = d_context or d_model
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
            if mask.ndim > 2:
                mask = mask.unsqueeze(-3)
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.softmax(scores, -1).nan_to_num(0.0)
        heads = F.dropout(weights, self.dropout, self.training) @ v
        return self.W_O(merge_heads(heads)), weights


# %% [wrong] values_from_the_tokens | With a context the values are still made from the tokens: an error, or, where T = S and the widths agree, a wrong output in silence.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(num_heads)
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
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(tokens), self.num_heads)
        _, weights = masked_attention(q, k, v, mask)
        mixed = F.dropout(weights, self.dropout, self.training) @ v
        return self.W_O(merge_heads(mixed)), weights


# %% [right] head_by_head | Cuts the projected tokens into lists with `chunk` and calls `masked_attention` once for each head; no axis for heads is needed until the end.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads = {num_heads} does not divide d_model = {d_model}")
        self.num_heads, self.dropout = num_heads, dropout
        widths = {"W_Q": d_model, "W_K": d_context, "W_V": d_context, "W_O": d_model}
        for name, width in widths.items():
            setattr(self, name, nn.Linear(d_model if width is None else width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        seen = tokens if context is None else context
        queries = self.W_Q(tokens).chunk(self.num_heads, -1)
        keys = self.W_K(seen).chunk(self.num_heads, -1)
        values = self.W_V(seen).chunk(self.num_heads, -1)
        maps, brought = [], []
        for q, k, v in zip(queries, keys, values):
            _, weights = masked_attention(q, k, v, mask)
            maps.append(weights)
            brought.append(F.dropout(weights, self.dropout, self.training) @ v)
        return self.W_O(torch.cat(brought, -1)), torch.stack(maps, -3)
