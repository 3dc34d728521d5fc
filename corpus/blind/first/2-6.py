# %% [wrong] scale_d_model | The scores are divided by √d_model; a head compares vectors of d_head numbers, so √d_head is right.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.d_model = d_model
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
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_model)
        if mask is not None:
            if mask.ndim > 2:
                mask = mask.unsqueeze(-3)
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1).nan_to_num(0.0)
        dropped = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(dropped @ v)), weights

# %% [wrong] no_head_axis_in_mask | The mask goes on as it is; a mask with a batch needs an axis for the heads (unsqueeze(-3)), else batches meet heads.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} does not divide {d_model}")
        self.num_heads = num_heads
        self.p = dropout
        d_context = d_context or d_model
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        Q, K, V = self.W_Q(tokens), self.W_K(context), self.W_V(context)
        Q, K, V = [split_heads(t, self.num_heads) for t in (Q, K, V)]
        _, weights = masked_attention(Q, K, V, mask)
        out = F.dropout(weights, self.p, self.training) @ V
        return self.W_O(merge_heads(out)), weights

# %% [wrong] head_axis_for_three_axes_only | The head axis is added to masks of exactly three axes; a mask with two batch axes does not get one.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        if d_context is None:
            d_context = d_model
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)   # (B, 1, T, S)
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        out, weights = masked_attention(q, k, v, mask)
        if self.training and self.dropout > 0:
            out = F.dropout(weights, self.dropout) @ v
        return self.W_O(merge_heads(out)), weights

# %% [wrong] mask_turned_round | The mask is turned round: positions where it is True are hidden, but True means "may attend".
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads has to divide d_model")
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        width = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q, k, v = (
            split_heads(x, self.num_heads)
            for x in (self.W_Q(tokens), self.W_K(context), self.W_V(context))
        )
        scores = torch.einsum("...qd,...kd->...qk", q, k) * self.d_head**-0.5
        if mask is not None:
            mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
            scores = scores.masked_fill(mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        weights = torch.where(weights.isnan(), 0.0, weights)
        return self.W_O(merge_heads(self.drop(weights) @ v)), weights

# %% [wrong] no_output_projection | W_O exists, but forward never applies it to the merged heads.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads does not divide d_model")
        d_context = d_context if d_context is not None else d_model
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
        mask = mask.unsqueeze(-3) if mask is not None and mask.ndim > 2 else mask
        _, weights = masked_attention(q, k, v, mask)
        output = merge_heads(F.dropout(weights, self.dropout, self.training) @ v)
        return output, weights

# %% [wrong] biases | The four linear layers have biases; they should be made with bias=False.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads does not divide d_model")
        d_context = d_context if d_context is not None else d_model
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model)
        self.W_K = nn.Linear(d_context, d_model)
        self.W_V = nn.Linear(d_context, d_model)
        self.W_O = nn.Linear(d_model, d_model)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        output, weights = masked_attention(q, k, v, mask)
        if self.training and self.dropout:
            output = F.dropout(weights, self.dropout) @ v
        return self.W_O(merge_heads(output)), weights

# %% [wrong] values_from_tokens | The values are made from the tokens and not from the context, so cross-attention raises or brings back the wrong thing.
class MultiHeadAttention(nn.Module):
    """Attention with several heads."""

    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError
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
        Q = split_heads(self.W_Q(tokens), self.num_heads)
        K = split_heads(self.W_K(context), self.num_heads)
        V = split_heads(self.W_V(tokens), self.num_heads)
        if mask is not None and mask.ndim >= 3:
            mask = mask[..., None, :, :]
        _, weights = masked_attention(Q, K, V, mask)
        heads = F.dropout(weights, p=self.dropout, training=self.training) @ V
        return self.W_O(merge_heads(heads)), weights

# %% [wrong] weights_after_dropout | The weights that are returned are those after dropout; the ones before it are asked for.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        weights = self.dropout(weights)
        return self.W_O(merge_heads(weights @ v)), weights

# %% [wrong] dropout_always_on | F.dropout is called without self.training, and its default is True, so weights are dropped in evaluation mode as well.
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
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        after = F.dropout(weights, self.dropout)
        return self.W_O(merge_heads(after @ v)), weights

# %% [wrong] dropout_on_output | Dropout acts on the merged output of the heads; it should act on the weights on their way to the values.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads = num_heads
        for name, width in {"W_Q": d_model, "W_K": d_context, "W_V": d_context, "W_O": d_model}.items():
            setattr(self, name, nn.Linear(width, d_model, bias=False))
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        output, weights = masked_attention(q, k, v, mask)
        return self.W_O(self.dropout(merge_heads(output))), weights

# %% [wrong] dropout_never | The argument dropout is stored but never used, so nothing is dropped while training.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        q, k, v = self.W_Q(tokens), self.W_K(source), self.W_V(source)
        q, k, v = (split_heads(x, self.num_heads) for x in (q, k, v))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        output, weights = masked_attention(q, k, v, mask)
        return self.W_O(merge_heads(output)), weights

# %% [wrong] indivisible_accepted | No ValueError is raised where num_heads does not divide d_model; the layer is made, and fails only later.
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
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        return self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights

# %% [wrong] nan_for_masked_queries | A query that may attend nowhere gets NaN from the softmax over −∞; it should get zeros.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        Q = split_heads(self.W_Q(tokens), self.num_heads)
        K = split_heads(self.W_K(context), self.num_heads)
        V = split_heads(self.W_V(context), self.num_heads)
        scores = Q @ K.mT / self.d_k ** 0.5
        if mask is not None:
            if mask.ndim > 2:
                mask = mask.unsqueeze(-3)
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        return self.W_O(merge_heads(self.dropout(weights) @ V)), weights

# %% [wrong] even_for_masked_queries | Hidden scores are set to −1e9, so a query that may attend nowhere looks at all keys alike, where it should get zeros.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads")
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        d_context = d_context or d_model
        self.W_Q, self.W_K, self.W_V, self.W_O = (
            nn.Linear(w, d_model, bias=False) for w in (d_model, d_context, d_context, d_model)
        )
        self.dropout = dropout

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        attn = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_head)
        if mask is not None:
            mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
            attn = attn.masked_fill(mask == 0, -1e9)
        attn = attn.softmax(dim=-1)
        out = F.dropout(attn, self.dropout, self.training) @ v
        return self.W_O(merge_heads(out)), attn

# %% [wrong] truth_of_a_tensor | `context or tokens` asks for the truth value of a tensor of many numbers, which raises a RuntimeError when a context is given.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_context or d_model
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = context or tokens
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        return self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights

# %% [wrong] d_context_ignored | d_context is ignored: W_K and W_V expect d_model numbers, so a context of another width raises.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_model, d_model, bias=False)
        self.W_V = nn.Linear(d_model, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.W_Q(tokens), self.num_heads)
        k = split_heads(self.W_K(context), self.num_heads)
        v = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        return self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights

# %% [wrong] maps_averaged | The weights are averaged over the heads, as PyTorch's layer does by default; one map for each head is asked for.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
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
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        output = self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v))
        return output, weights.mean(dim=-3)

# %% [wrong] weights_first | The two results come back in the wrong order, the weights before the output.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
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
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        output = self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v))
        return weights, output

# %% [wrong] softmax_over_queries | The softmax runs over the queries (dim=-2) and not over the keys (dim=-1).
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
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
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if mask is not None:
            mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-2).nan_to_num(0.0)
        return self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights

# %% [wrong] builtin_layer | It wraps F.scaled_dot_product_attention, which the exercise asks to leave aside because it is what is built here.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
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
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        eye = torch.eye(k.shape[-2], dtype=v.dtype, device=v.device).expand(*v.shape[:-1], -1)
        weights = F.scaled_dot_product_attention(q, k, eye, attn_mask=mask)
        if mask is not None:
            weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)
        heads = F.dropout(weights, self.dropout, self.training) @ v
        return self.W_O(merge_heads(heads)), weights

# %% [wrong] mask_changed_in_place | The head axis is added with unsqueeze_, in place, so the caller's mask has another shape afterwards.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
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
        if mask is not None and mask.ndim > 2:
            mask.unsqueeze_(-3)
        _, weights = masked_attention(q, k, v, mask)
        return self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights

# %% [wrong] scaled_twice | The queries are divided by √d_head before masked_attention, which scales already: the scaling is doubled.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
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
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q / math.sqrt(q.shape[-1]), k, v, mask)
        return self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights

# %% [wrong] hidden_not_renormalised | The mask is multiplied onto the weights after the softmax, so the rows no longer sum to 1; hide scores before it.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
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
        _, weights = masked_attention(q, k, v)
        if mask is not None:
            if mask.ndim > 2:
                mask = mask.unsqueeze(-3)
            weights = weights * mask  # a masked query gets zeros
        return self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights

# %% [wrong] queries_and_keys_swapped | W_Q and W_K are swapped: the queries are made with W_K and the keys with W_Q.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        k, q, v = self.W_Q(tokens), self.W_K(context), self.W_V(context)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        q, k, v = (split_heads(x, self.num_heads) for x in (q, k, v))
        _, weights = masked_attention(q, k, v, mask)
        return self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights

# %% [wrong] residual_inside | The tokens are added to the output (a residual connection), which the layer should not do.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
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
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        update = self.W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v))
        return tokens + update, weights

# %% [wrong] misnamed_and_unscaled | The projections are called query, key, value and out, not W_Q, W_K, W_V, W_O AND the scores are not divided by √d_head.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.p = num_heads, dropout
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_context, d_model, bias=False)
        self.value = nn.Linear(d_context, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q = split_heads(self.query(tokens), self.num_heads)
        k = split_heads(self.key(context), self.num_heads)
        v = split_heads(self.value(context), self.num_heads)
        scores = q @ k.mT
        if mask is not None:
            scores = scores.masked_fill(~(mask.unsqueeze(-3) if mask.ndim > 2 else mask), -math.inf)
        weights = torch.nan_to_num(scores.softmax(-1))
        return self.out(merge_heads(F.dropout(weights, self.p, self.training) @ v)), weights

# %% [wrong] merged_by_plain_reshape | The heads are joined by a plain reshape without swapping heads and tokens, so numbers of different tokens are mixed.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
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
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        heads = F.dropout(weights, self.dropout, self.training) @ v
        joined = heads.reshape(tokens.shape)
        return self.W_O(joined), weights

# %% [wrong] projections_in_a_list | The projections are kept in a plain Python list, so they are not registered as parameters (and W_Q … W_O do not exist).
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        d_context = d_model if d_context is None else d_context
        self.num_heads, self.dropout = num_heads, dropout
        self.W = [
            nn.Linear(d_model, d_model, bias=False),
            nn.Linear(d_context, d_model, bias=False),
            nn.Linear(d_context, d_model, bias=False),
            nn.Linear(d_model, d_model, bias=False),
        ]

    def forward(self, tokens, context=None, mask=None):
        W_Q, W_K, W_V, W_O = self.W
        context = tokens if context is None else context
        q, k, v = W_Q(tokens), W_K(context), W_V(context)
        q, k, v = (split_heads(x, self.num_heads) for x in (q, k, v))
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(q, k, v, mask)
        return W_O(merge_heads(F.dropout(weights, self.dropout, self.training) @ v)), weights

# %% [right] hints_way | The way of the hints: masked_attention for the weights, own product after dropout.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads={num_heads} does not divide d_model={d_model}")
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
        query = split_heads(self.W_Q(tokens), self.num_heads)
        key = split_heads(self.W_K(context), self.num_heads)
        value = split_heads(self.W_V(context), self.num_heads)
        if mask is not None and mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        _, weights = masked_attention(query, key, value, mask)
        kept = F.dropout(weights, self.dropout, self.training)
        return self.W_O(merge_heads(kept @ value)), weights

# %% [right] einsum_by_hand | einsum with unflattened axes, no helper at all; hidden scores are set to the smallest number and zeroed after the softmax.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        self.drop = nn.Dropout(dropout)
        width = d_model if d_context is None else d_context
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(width, d_model, bias=False)
        self.W_V = nn.Linear(width, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        source = tokens if context is None else context
        cut = (self.num_heads, -1)
        q = self.W_Q(tokens).unflatten(-1, cut)
        k = self.W_K(source).unflatten(-1, cut)
        v = self.W_V(source).unflatten(-1, cut)
        scores = torch.einsum("...thd,...shd->...hts", q, k) / math.sqrt(q.shape[-1])
        if mask is not None:
            may = mask.unsqueeze(-3) if mask.dim() >= 3 else mask
            scores = scores.masked_fill(may.logical_not(), torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(may.logical_not(), 0.0)
        mixed = torch.einsum("...hts,...shd->...thd", self.drop(weights), v)
        return self.W_O(mixed.flatten(-2)), weights

# %% [right] loop_over_heads | A loop over the heads on slices of the projected tokens; the mask needs no head axis at all.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model is not a multiple of num_heads")
        self.num_heads, self.d_head, self.dropout = num_heads, d_model // num_heads, dropout
        d_context = d_context or d_model
        self.W_Q = nn.Linear(d_model, d_model, bias=False)
        self.W_K = nn.Linear(d_context, d_model, bias=False)
        self.W_V = nn.Linear(d_context, d_model, bias=False)
        self.W_O = nn.Linear(d_model, d_model, bias=False)

    def forward(self, tokens, context=None, mask=None):
        if context is None:
            context = tokens
        q, k, v = self.W_Q(tokens), self.W_K(context), self.W_V(context)
        outputs, maps = [], []
        for h in range(self.num_heads):
            own = slice(h * self.d_head, (h + 1) * self.d_head)
            _, w = masked_attention(q[..., own], k[..., own], v[..., own], mask)
            maps.append(w)
            outputs.append(F.dropout(w, self.dropout, self.training) @ v[..., own])
        return self.W_O(torch.cat(outputs, dim=-1)), torch.stack(maps, dim=-3)

# %% [right] methods_and_additive_bias | The mask becomes an additive 0 or −∞, fully hidden queries are handled by first letting them see everything and zeroing them after.
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, d_context=None, dropout=0.0):
        super().__init__()
        if num_heads < 1 or d_model % num_heads:
            raise ValueError(f"cannot split {d_model} into {num_heads} heads")
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        d_c = d_model if d_context is None else d_context
        widths = dict(W_Q=d_model, W_K=d_c, W_V=d_c, W_O=d_model)
        for name, width in widths.items():
            self.add_module(name, nn.Linear(width, d_model, bias=False))

    def _weights(self, q, k, mask):
        scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)
        if mask is None:
            return scores.softmax(-1)
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        lost = ~mask.any(-1, keepdim=True)
        bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
        bias = bias.masked_fill(~(mask | lost), float("-inf"))
        return (scores + bias).softmax(-1) * (~lost)

    def forward(self, tokens, context=None, mask=None):
        context = tokens if context is None else context
        q, k, v = (split_heads(p, self.num_heads) for p in (self.W_Q(tokens), self.W_K(context), self.W_V(context)))
        weights = self._weights(q, k, mask)
        output = self.W_O(merge_heads(self.dropout(weights) @ v))
        return output, weights
