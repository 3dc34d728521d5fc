# %% [wrong] zero_query | The head's query is set to zero: it then looks at all keys alike, and still brings something back.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    H = attention_layer.num_heads
    q = split_heads(attention_layer.W_Q(tokens), H).clone()
    q[..., head, :, :] = 0
    k = split_heads(attention_layer.W_K(context), H)
    v = split_heads(attention_layer.W_V(context), H)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    return attention_layer.W_O(merge_heads(masked_attention(q, k, v, mask)[0]))


# %% [wrong] layer_changed_for_good | The head's columns of W_O are set to zero in the layer itself and never put back: the next call works with a damaged layer.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    d_head = attention_layer.W_O.weight.shape[1] // attention_layer.num_heads
    with torch.no_grad():
        attention_layer.W_O.weight[:, head * d_head : (head + 1) * d_head] = 0.0
    output, _ = attention_layer(tokens, context, mask)
    return output


# %% [wrong] rows_of_w_o | Takes the head's rows of W_O; the weight is output by input, so a head has columns.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, weights = attention_layer(tokens, context, mask)
    source = tokens if context is None else context
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    merged = merge_heads(weights @ values)
    d = values.shape[-1]
    W = attention_layer.W_O.weight.clone()
    W[head * d : (head + 1) * d] = 0
    return merged @ W.T


# %% [wrong] the_head_alone | Returns what the head contributes and not the output without it.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    _, w = attention_layer(tokens, context, mask)
    v = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    mixed = w @ v
    only = torch.zeros_like(mixed)
    only[..., head, :, :] = mixed[..., head, :, :]
    return attention_layer.W_O(merge_heads(only))


# %% [wrong] first_axis_of_the_heads | `heads[head] = 0` addresses axis 0: the head without a batch, and a whole scene with one.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, weights = attention_layer(tokens, context=context, mask=mask)
    read = context if context is not None else tokens
    heads = weights @ split_heads(attention_layer.W_V(read), attention_layer.num_heads)
    heads[head] = 0.0
    return attention_layer.W_O(merge_heads(heads))


# %% [wrong] mask_forgotten | The weights are asked for without the mask, so the other heads look where they must not.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    if context is None:
        context = tokens
    _, weights = attention_layer(tokens, context)
    values = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    keep = torch.ones(attention_layer.num_heads, 1, 1, dtype=values.dtype, device=values.device)
    keep[head] = 0
    return attention_layer.W_O(merge_heads(weights @ values * keep))


# %% [right] subtract_one_head | Subtracts from the whole output what this one head adds, through its own slices of W_V and W_O.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, weights = attention_layer(tokens, context, mask)
    source = tokens if context is None else context
    width = attention_layer.W_O.in_features // attention_layer.num_heads
    mine = slice(head * width, head * width + width)
    value = source @ attention_layer.W_V.weight[mine].T
    return output - weights[..., head, :, :] @ value @ attention_layer.W_O.weight[:, mine].T
