# %% [wrong] drops_in_evaluation_too | F.dropout is called without self.training, and its default is training=True: weights are dropped in evaluation as well, and two calls give two outputs. Dropout should act while training only.
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
        if context is None:
            context = tokens
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        out = F.dropout(weights, self.dropout) @ v
        return self.W_O(merge_heads(out)), weights

# %% [wrong] returns_dropped_weights | The name weights is used again for what dropout leaves, so the returned map has holes and its rows do not sum to 1 while training. The weights from before dropout should be returned.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        self.num_heads = num_heads
        if d_context is None:
            d_context = d_model
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query, key, value = (
            split_heads(x, self.num_heads) for x in (self.W_Q(tokens), self.W_K(context), self.W_V(context))
        )
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        weights = masked_attention(query, key, value, mask)[1]
        weights = self.drop(weights)
        output = self.W_O(merge_heads(weights @ value))
        return output, weights

# %% [wrong] divides_without_remainder_check | The check is d_model // num_heads == 0, which is true only where there are more heads than features. 10 features and 4 heads pass without the ValueError; the remainder, %, should be tested.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model // num_heads == 0:
            raise ValueError("num_heads does not divide d_model")
        self.num_heads, self.p = num_heads, dropout
        d_context = d_context or d_model
        for name, width in (("W_Q", d_model), ("W_K", d_context), ("W_V", d_context), ("W_O", d_model)):
            setattr(self, name, nn.Linear(width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        heads = self.num_heads
        q, k, v = split_heads(self.W_Q(tokens), heads), split_heads(self.W_K(context), heads), split_heads(self.W_V(context), heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        weights = masked_attention(q, k, v, mask)[1]
        dropped = F.dropout(weights, self.p, self.training)
        return self.W_O(merge_heads(dropped @ v)), weights

# %% [wrong] mask_always_gets_axis_one | The axis of the heads is put into the mask with unsqueeze(1) in every case. For a mask (B, 1, S) it is right; a causal mask (T, T) becomes (T, 1, T) and is spread over heads and queries the wrong way, or does not fit at all.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model={d_model} is not a multiple of num_heads={num_heads}")
        self.num_heads = num_heads
        self.dropout = dropout
        d_ctx = d_context if d_context is not None else d_model
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_ctx, d_model, bias=False)
        self.W_V = nn.Linear(d_ctx, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        Q = split_heads(self.W_Q(tokens), self.num_heads)
        K = split_heads(self.W_K(source), self.num_heads)
        V = split_heads(self.W_V(source), self.num_heads)
        if mask is not None:
            mask = mask.unsqueeze(1)
        out, weights = masked_attention(Q, K, V, mask)
        if self.training and self.dropout > 0:
            out = F.dropout(weights, self.dropout) @ V
        return self.W_O(merge_heads(out)), weights

# %% [wrong] root_of_d_model | The scores are divided by √d_model, but a head compares vectors of d_head = d_model / H numbers, and so it should be √d_head. With one head it is right; with four all maps are too flat.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model % num_heads != 0")
        d_context = d_model if d_context is None else d_context
        self.d_model, self.num_heads = d_model, num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.attn_drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        scores = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(self.d_model)
        if mask is not None:
            if mask.ndim > 2:
                mask = mask.unsqueeze(-3)
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.nan_to_num(scores.softmax(-1), nan=0.0)
        return self.W_O(merge_heads(self.attn_drop(weights) @ v)), weights

# %% [right] a_loop_over_heads | Each head is one round of a loop with its own rows of W_Q, W_K, W_V and its own columns of W_O; the contributions are summed, so nothing is split or merged. The mask needs no axis for the heads.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} features cannot be shared out among {num_heads} heads")
        source = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.thin = nn.Dropout(dropout)
        self.W_Q, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_K, self.W_V = (nn.Linear(source, d_model, bias=False) for _ in range(2))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        total, maps = 0, []
        projected = [layer(side).chunk(self.num_heads, dim=-1) for layer, side in
                     ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))]
        for query, key, value, out in zip(*projected, self.W_O.weight.chunk(self.num_heads, dim=1)):
            weights = masked_attention(query, key, value, mask)[1]
            maps.append(weights)
            total = total + F.linear(self.thin(weights) @ value, out)
        return total, torch.stack(maps, dim=-3)
