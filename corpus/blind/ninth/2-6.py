# %% [wrong] masks_dealt_out_in_the_wrong_order | Folds heads into the batch and repeats the mask with repeat, which deals b0, b1, b0, b1 where b0, b0, b1, b1 is needed (repeat_interleave). With a mask of its own for each scene, scenes get one another's masks.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
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
        lead, n, s = tokens.shape[:-2], tokens.shape[-2], context.shape[-2]
        H = self.num_heads
        q = split_heads(self.W_Q(tokens), H).reshape(-1, n, self.W_Q.out_features // H)
        k = split_heads(self.W_K(context), H).reshape(-1, s, self.W_Q.out_features // H)
        v = split_heads(self.W_V(context), H).reshape(-1, s, self.W_Q.out_features // H)
        if mask is not None:
            mask = mask.expand(*lead, n, s).reshape(-1, n, s).repeat(H, 1, 1)
        _, weights = masked_attention(q, k, v, mask)
        heads = F.dropout(weights, self.p, self.training) @ v
        output = self.W_O(merge_heads(heads.reshape(*lead, H, n, -1)))
        return output, weights.reshape(*lead, H, n, s)

# %% [wrong] one_mean_map | Gives back the mean of the heads' maps, (..., T, S), as nn.MultiheadAttention does. A map for each head is asked for, (..., H, T, S).
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        d_context = d_context or d_model
        self.num_heads, self.dropout = num_heads, nn.Dropout(dropout)
        self.W_Q, self.W_O = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_K, self.W_V = (nn.Linear(d_context, d_model, bias=False) for _ in range(2))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        weights = masked_attention(query, key, value, mask)[1]
        output = self.W_O(merge_heads(self.dropout(weights) @ value))
        return output, weights.mean(dim=-3)

# %% [wrong] mask_before_context | forward takes the mask before the context. The order should be tokens, context, mask: look(words, patches) takes the patches for a mask, and is an error or nonsense.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model}, num_heads {num_heads}")
        self.num_heads = num_heads
        self.drop = dropout
        width = d_context if d_context is not None else d_model
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def _heads(self, projected):
        return split_heads(projected, self.num_heads)

    def forward(self, tokens, mask=None, context=None):
        source = tokens if context is None else context
        q, k, v = self._heads(self.W_Q(tokens)), self._heads(self.W_K(source)), self._heads(self.W_V(source))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        kept = F.dropout(weights, p=self.drop, training=self.training)
        return self.W_O(merge_heads(kept @ v)), weights

# %% [wrong] dropout_never_stops | Calls F.dropout without the third argument, which is True by default. In evaluation nothing should be dropped: with dropout > 0 the outputs stay random after eval().
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads > 0:
            raise ValueError("heads must be equally wide")
        self.num_heads = num_heads
        self.dropout = dropout
        if d_context is None:
            d_context = d_model
        for name, width in {"W_Q": d_model, "W_K": d_context, "W_V": d_context, "W_O": d_model}.items():
            setattr(self, name, nn.Linear(width, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        parts = (self.W_Q(tokens), self.W_K(context), self.W_V(context))
        query, key, value = [split_heads(part, self.num_heads) for part in parts]
        if mask is not None and len(mask.shape) > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout)
        return self.W_O(merge_heads(torch.matmul(dropped, value))), weights

# %% [wrong] root_of_the_whole_width | Writes the attention out and divides by the root of d_model. Each head is d_model / H wide, and the root should be that of its width: all maps are too flat, except with one head.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{d_model} % {num_heads} is not 0")
        self.d_model, self.num_heads, self.dropout = d_model, num_heads, dropout
        d_context = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        scores = torch.einsum("...hqd,...hkd->...hqk", q, k) / math.sqrt(self.d_model)
        if mask is not None:
            mask = mask.unsqueeze(-3) if mask.dim() > 2 else mask
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
        mixed = torch.einsum("...hqk,...hkd->...hqd", F.dropout(weights, self.dropout, self.training), v)
        return self.W_O(merge_heads(mixed)), weights

# %% [wrong] mask_over_keys_alone_breaks | Always puts an axis for the heads at place -3 of the mask. A mask (S,), the same for all queries, also broadcasts to (..., T, S) and has no such place: an IndexError.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError
        self.num_heads = num_heads
        self.weights_dropout = nn.Dropout(dropout)
        d_context = d_model if d_context is None else d_context
        linear = lambda width: nn.Linear(width, d_model, bias=False)
        self.W_Q, self.W_K, self.W_V, self.W_O = map(linear, (d_model, d_context, d_context, d_model))

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q, k, v = (
            split_heads(side, self.num_heads)
            for side in (self.W_Q(tokens), self.W_K(context), self.W_V(context))
        )
        if mask is not None:
            mask = mask.unsqueeze(-3)
        weights = masked_attention(q, k, v, mask)[1]
        return self.W_O(merge_heads(self.weights_dropout(weights) @ v)), weights

# %% [right] sum_over_heads_with_slices | A loop over heads: each one uses its rows of W_Q, W_K, W_V and its columns of W_O directly, and the outputs are added up; nothing is split or merged.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        self.num_heads, self.rate = num_heads, dropout
        self.d_head, left = divmod(d_model, num_heads)
        if left:
            raise ValueError(f"{d_model} numbers cannot be shared among {num_heads} heads")
        context_width = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(context_width, d_model, bias=False)
        self.W_V = nn.Linear(context_width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        output, maps = 0, []
        for h in range(self.num_heads):
            own = slice(h * self.d_head, (h + 1) * self.d_head)
            query = F.linear(tokens, self.W_Q.weight[own])
            key, value = (F.linear(context, layer.weight[own]) for layer in (self.W_K, self.W_V))
            scores = query @ key.mT * self.d_head**-0.5
            if mask is not None:
                scores = torch.where(mask, scores, -math.inf)
            weights = torch.softmax(scores, dim=-1)
            if mask is not None:
                weights = torch.where(mask, weights, 0.0)
            maps.append(weights)
            brought = F.dropout(weights, self.rate, self.training) @ value
            output = output + F.linear(brought, self.W_O.weight[:, own])
        return output, torch.stack(maps, dim=-3)
