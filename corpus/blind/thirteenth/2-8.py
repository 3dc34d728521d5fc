# %% [wrong] layer_is_changed | zeroes the head's columns of W_O in the layer itself and never puts them back: the caller's layer has lost the head for good
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    d_model = attention_layer.W_O.weight.shape[0]
    d_head = d_model // attention_layer.num_heads
    with torch.no_grad():
        attention_layer.W_O.weight[:, head * d_head : (head + 1) * d_head] = 0
    output, _ = attention_layer(tokens, context, mask)
    return output


# %% [wrong] rows_of_w_o | zeroes the head's ROWS of W_O (in a copy): that blanks some features of the output for all heads, and leaves the head itself in all the others; its columns are meant
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    from copy import deepcopy

    layer = deepcopy(attention_layer)
    rows = layer.W_O.weight.data.unflatten(0, (layer.num_heads, -1))
    rows[head].zero_()
    return layer(tokens, context=context, mask=mask)[0]


# %% [wrong] query_set_to_zero | removes the head's query instead of its values: all scores are 0, so the head looks at all keys alike and still adds their mean
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    queries = split_heads(attention_layer.W_Q(tokens), attention_layer.num_heads)
    keep = torch.ones(attention_layer.num_heads, 1, 1, dtype=queries.dtype, device=queries.device)
    keep[head] = 0
    keys = split_heads(attention_layer.W_K(context), attention_layer.num_heads)
    values = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    if mask is not None and mask.dim() > 2:
        mask = mask.unsqueeze(-3)
    mixed, _ = masked_attention(queries * keep, keys, values, mask)
    return attention_layer.W_O(merge_heads(mixed))


# %% [wrong] no_context_given | forgets that context may be None: the layer copes, but W_V(None) raises a TypeError for self-attention
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    heard = weights.select(-3, head) @ values.select(-3, head)
    columns = attention_layer.W_O.weight.chunk(attention_layer.num_heads, dim=1)[head]
    return output - heard @ columns.T


# %% [wrong] second_axis | silences the head at index [:, head], counted from the front: that is the head for exactly one batch axis; without a batch it silences a query, with two it silences a scene
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    mixed = weights @ split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    mixed = mixed.clone()
    mixed[:, head] = 0.0
    return attention_layer.W_O(merge_heads(mixed))


# %% [right] other_heads_added | adds up what each of the other heads contributes through its own columns of W_O
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    seen = tokens if context is None else context
    _, weights = attention_layer(tokens, context=context, mask=mask)
    count = attention_layer.num_heads
    columns = attention_layer.W_O.weight.chunk(count, dim=1)
    rows = attention_layer.W_V.weight.chunk(count, dim=0)
    left = torch.zeros_like(tokens)
    for other in range(count):
        if other != head:
            left = left + weights[..., other, :, :] @ seen @ rows[other].T @ columns[other].T
    return left
