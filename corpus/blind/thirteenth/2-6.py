# %% [wrong] root_of_d_model | scales the scores by the root of d_model instead of the width of one head, d_head: all maps are too flat with more than one head
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.d_model, self.num_heads, self.dropout = d_model, num_heads, dropout
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
            if mask.dim() > 2:
                mask = mask.unsqueeze(-3)
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
        mixed = F.dropout(weights, self.dropout, self.training) @ v
        return self.W_O(merge_heads(mixed)), weights


# %% [wrong] mask_without_head_axis | hands the mask on as it is: a mask (B, 1, S) or (B, T, S) lines its batch up with the heads, which raises, or (where B = H) hides scene by scene in the wrong heads
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide {d_model}")
        self.num_heads = num_heads
        self.p = dropout
        width = d_context or d_model
        for name, d_in in {"W_Q": d_model, "W_K": width, "W_V": width, "W_O": d_model}.items():
            setattr(self, name, nn.Linear(d_in, d_model, bias=False))

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        query, key, value = (
            split_heads(layer(side), self.num_heads)
            for layer, side in ((self.W_Q, tokens), (self.W_K, context), (self.W_V, context))
        )
        output, weights = masked_attention(query, key, value, mask)
        if self.training and self.p > 0:
            output = F.dropout(weights, self.p) @ value
        return self.W_O(merge_heads(output)), weights


# %% [wrong] dropout_in_evaluation | F.dropout without its third argument drops always, since training=True is the default: in evaluation mode the output is still random
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} must divide d_model {d_model}")
        if d_context is None:
            d_context = d_model
        self.num_heads = num_heads
        self.dropout = dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        _, weights = masked_attention(query, key, value, mask)
        dropped = F.dropout(weights, self.dropout)
        output = self.W_O(merge_heads(dropped @ value))
        return output, weights


# %% [wrong] context_or_tokens | `context or tokens` asks a whole tensor for its truth: every call with a context raises "Boolean value of Tensor with more than one value is ambiguous"
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        d_head, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{d_model} numbers cannot be shared among {num_heads} heads")
        self.num_heads, self.d_head, self.dropout = num_heads, d_head, dropout
        linear = lambda d_in: nn.Linear(d_in, d_model, bias=False)
        self.W_Q, self.W_O = linear(d_model), linear(d_model)
        self.W_K, self.W_V = linear(d_context or d_model), linear(d_context or d_model)

    def forward(self, tokens, context=None, mask=None):
        source = context or tokens
        q, k, v = (split_heads(x, self.num_heads) for x in (self.W_Q(tokens), self.W_K(source), self.W_V(source)))
        if mask is not None:
            mask = mask.unsqueeze(-3)
        mixed, weights = masked_attention(q, k, v, mask)
        if self.training and self.dropout:
            mixed = torch.matmul(F.dropout(weights, self.dropout, True), v)
        return self.W_O(merge_heads(mixed)), weights


# %% [wrong] floor_instead_of_rest | tests d_model // num_heads (the quotient) where the remainder % is meant: 3 heads for a width of 8 are accepted without a ValueError, and fail only later
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model // num_heads == 0:
            raise ValueError("num_heads does not divide d_model")
        self.num_heads = num_heads
        self.dropout = dropout
        d_context = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def _weights(self, query, key, mask):
        scores = torch.einsum("...htd,...hsd->...hts", query, key) / query.shape[-1] ** 0.5
        if mask is None:
            return scores.softmax(-1)
        mask = mask.unsqueeze(-3)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        weights = self._weights(query, key, mask)
        used = F.dropout(weights, p=self.dropout, training=self.training)
        return self.W_O(merge_heads(used @ value)), weights


# %% [right] one_head_after_another | a loop over heads, each with its rows of W_Q, W_K, W_V and its columns of W_O; the outputs are added, so nothing is split or merged
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {d_model}")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        width = tokens.shape[-1] // self.num_heads
        output, maps = 0, []
        for h in range(self.num_heads):
            mine = slice(h * width, (h + 1) * width)
            query = F.linear(tokens, self.W_Q.weight[mine])
            key = F.linear(context, self.W_K.weight[mine])
            value = F.linear(context, self.W_V.weight[mine])
            heard, weights = masked_attention(query, key, value, mask)
            if self.training and self.dropout > 0:
                heard = F.dropout(weights, self.dropout, True) @ value
            output = output + F.linear(heard, self.W_O.weight[:, mine])
            maps.append(weights)
        return output, torch.stack(maps, dim=-3)
