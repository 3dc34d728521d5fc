# %% [wrong] rows_of_the_output_matrix | The rows h·d_head … of W_O.weight are set to zero in a copy; nn.Linear stores output by input, so the columns belong to the head. This erases outputs of all heads instead.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    merged = merge_heads(weights @ values)
    d_head = values.shape[-1]
    W = attention_layer.W_O.weight.clone()
    W[head * d_head : (head + 1) * d_head] = 0
    return F.linear(merged, W)

# %% [wrong] layer_stays_maimed | The head's columns of W_O are set to zero in the layer itself and never put back; the first answer is right, but the layer is changed, and every later call lacks the head.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    d_head = attention_layer.W_O.weight.shape[1] // attention_layer.num_heads
    with torch.no_grad():
        attention_layer.W_O.weight[:, head * d_head : (head + 1) * d_head] = 0.0
    output, _ = attention_layer(tokens, context, mask)
    return output

# %% [wrong] only_the_query_is_silenced | The head's query is set to zero, so its weights become even over all keys; it still brings the mean of the values, which must be taken out as well.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    H = attention_layer.num_heads
    query = split_heads(attention_layer.W_Q(tokens), H).clone()
    query[..., head, :, :] = 0.0
    key = split_heads(attention_layer.W_K(source), H)
    value = split_heads(attention_layer.W_V(source), H)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    heads, _ = masked_attention(query, key, value, mask)
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] second_axis_is_the_head | weights[:, head] is the head only with exactly one batch axis; without a batch it silences the query number `head` in every head. It should be weights[..., head, :, :].
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    weights = attention_layer(tokens, context, mask)[1].clone()
    weights[:, head] = 0.0
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    return attention_layer.W_O(merge_heads(weights @ values))

# %% [wrong] the_others_are_turned_up | What is left is multiplied by H / (H − 1), as dropout does; the others must stay as they are, so each output is too large and the parts do not add up.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    H = attention_layer.num_heads
    _, weights = attention_layer(tokens, context, mask)
    heads = weights @ split_heads(attention_layer.W_V(source), H)
    keep = torch.ones(H, 1, 1, dtype=heads.dtype, device=heads.device)
    keep[head] = 0.0
    heads = heads * keep * H / (H - 1)
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] the_rest_moves_up | The head is left out of the list and the others are put side by side, but then multiplied with the first (H − 1) · d_head columns of W_O; heads behind the missing one meet columns that are not theirs.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    heads = weights @ split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    others = [one for h, one in enumerate(heads.unbind(-3)) if h != head]
    merged = torch.cat(others, dim=-1)
    return F.linear(merged, attention_layer.W_O.weight[:, : merged.shape[-1]])

# %% [right] output_less_its_share | subtracts from the whole output what this one head adds through its own columns of W_V and W_O
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, weights = attention_layer(tokens, context, mask)
    values = attention_layer.W_V(tokens if context is None else context)
    d_head = values.shape[-1] // attention_layer.num_heads
    own = slice(head * d_head, (head + 1) * d_head)
    brought = weights[..., head, :, :] @ values[..., own]
    return output - F.linear(brought, attention_layer.W_O.weight[:, own])
