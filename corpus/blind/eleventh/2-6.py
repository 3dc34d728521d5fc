# %% [wrong] weights_after_dropout | Overwrites the weights with what dropout leaves and returns those. In training the returned rows hold zeros at random and enlarged numbers, though the weights from before the dropout are asked for.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.dropout = dropout
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
        weights = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(weights @ v)), weights


# %% [wrong] scaled_twice | Divides the queries by the root of d_head although masked_attention does so already. Together the scores are divided by d_head, and every map is too flat.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        if d_context is None:
            d_context = d_model
        self.num_heads, self.p = num_heads, dropout
        self.d_head = d_model // num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query = split_heads(self.W_Q(tokens), self.num_heads) / math.sqrt(self.d_head)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        output, weights = masked_attention(query, key, value, mask)
        if self.p > 0 and self.training:
            output = F.dropout(weights, self.p) @ value
        return self.W_O(merge_heads(output)), weights


# %% [wrong] context_or_tokens | Writes `context or tokens`. A tensor of several numbers has no truth value, so every call with a context ends in a RuntimeError; without one it works.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context or d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_context or d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def heads(self, x):
        return split_heads(x, self.num_heads)

    def forward(self, tokens, context=None, mask=None):
        source = context or tokens
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        v = self.heads(self.W_V(source))
        _, w = masked_attention(self.heads(self.W_Q(tokens)), self.heads(self.W_K(source)), v, mask)
        return self.W_O(merge_heads(self.drop(w) @ v)), w


# %% [wrong] mask_axis_counted_from_the_front | Gives the mask its axis for the heads at position 1, whatever the mask looks like. That is right for (B, T, S); a mask (T, S) becomes (T, 1, S), whose rows land on the axis of the heads: an error or a wrong map.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{d_model} is no multiple of {num_heads}")
        d_context = d_context if d_context is not None else d_model
        self.num_heads = num_heads
        self.dropout = dropout
        self.W_Q, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_K, self.W_V = (nn.Linear(d_context, d_model, bias=False) for _ in range(2))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q, k, v = (
            split_heads(layer(x), self.num_heads)
            for layer, x in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))
        )
        if mask is not None:
            mask = mask.unsqueeze(1)  # same mask applied to all h heads
        _, weights = masked_attention(q, k, v, mask)
        mixed = F.dropout(weights, self.dropout, self.training) @ v
        return self.W_O(merge_heads(mixed)), weights


# %% [wrong] dropout_on_the_output | Drops numbers of the finished output and not weights. In training whole entries of the output are 0 at random, and no weight is ever dropped; in evaluation nothing is seen of it.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model % num_heads must be 0")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.resid_dropout = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        y, att = masked_attention(q, k, v, mask)
        return self.resid_dropout(self.W_O(merge_heads(y))), att


# %% [right] a_sum_over_heads | No splitting and merging: each head uses its rows of W_Q, W_K, W_V and its columns of W_O, and the output is the sum over the heads.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        width, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{d_model} numbers cannot be shared among {num_heads} heads")
        self.num_heads, self.width, self.share = num_heads, width, dropout
        outside = d_model if d_context is None else d_context
        for letter, reads in {"Q": d_model, "K": outside, "V": outside, "O": d_model}.items():
            setattr(self, "W_" + letter, nn.Linear(reads, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        total, maps = 0, []
        for head in range(self.num_heads):
            own = slice(head * self.width, (head + 1) * self.width)
            asks = F.linear(tokens, self.W_Q.weight[own])
            labels = F.linear(source, self.W_K.weight[own])
            contents = F.linear(source, self.W_V.weight[own])
            _, looks = masked_attention(asks, labels, contents, mask)
            maps.append(looks)
            kept = F.dropout(looks, self.share, training=self.training)
            total = total + F.linear(kept @ contents, self.W_O.weight[:, own])
        return total, torch.stack(maps, dim=-3)
