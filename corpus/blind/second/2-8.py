# %% [right] subtract_the_part | right
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, weights = attention_layer(tokens, context=context, mask=mask)
    answers = tokens if context is None else context
    width = attention_layer.W_V.out_features // attention_layer.num_heads
    rows = slice(head * width, head * width + width)
    value = answers @ attention_layer.W_V.weight[rows].T
    brought = weights.select(-3, head) @ value
    return output - brought @ attention_layer.W_O.weight[:, rows].T

# %% [wrong] query_zeroed | The rows of W_Q of this head are set to zero, so it looks at all keys alike and still brings something back.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    H = attention_layer.num_heads
    query = split_heads(attention_layer.W_Q(tokens), H).clone()
    query[..., head, :, :] = 0.0
    key, value = split_heads(attention_layer.W_K(context), H), split_heads(attention_layer.W_V(context), H)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    output, _ = masked_attention(query, key, value, mask)
    return attention_layer.W_O(merge_heads(output))

# %% [wrong] layer_changed | The columns of W_O are set to zero in the layer itself and not put back.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    width = attention_layer.W_O.weight.shape[1] // attention_layer.num_heads
    with torch.no_grad():
        attention_layer.W_O.weight[:, head * width : (head + 1) * width] = 0.0
    output, _ = attention_layer(tokens, context, mask)
    return output

# %% [wrong] rows_of_w_o | The rows of W_O instead of its columns are removed for this head.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    value = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    merged = merge_heads(weights @ value)
    width = merged.shape[-1] // attention_layer.num_heads
    matrix = attention_layer.W_O.weight.clone()
    matrix[head * width : (head + 1) * width] = 0.0
    return F.linear(merged, matrix)

# %% [wrong] only_this_head | The condition is the wrong way round: only this head is kept.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    value = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    heads = weights @ value
    kept = torch.arange(attention_layer.num_heads, device=tokens.device) == head
    return attention_layer.W_O(merge_heads(heads * kept[:, None, None]))

# %% [wrong] rescaled | What is left is multiplied by H / (H - 1), as if to make up for the missing head.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    value = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    heads = weights @ value
    kept = torch.arange(attention_layer.num_heads, device=tokens.device) != head
    return attention_layer.W_O(merge_heads(heads * kept[:, None, None])) * attention_layer.num_heads / (attention_layer.num_heads - 1)

# %% [wrong] mask_forgotten | The mask is not handed on to the layer.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    _, weights = attention_layer(tokens, context)
    value = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    heads = weights @ value
    kept = torch.arange(attention_layer.num_heads, device=tokens.device) != head
    return attention_layer.W_O(merge_heads(heads * kept[:, None, None]))

# %% [wrong] context_forgotten | The values are made from the tokens, not from the context.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    value = split_heads(attention_layer.W_V(tokens), attention_layer.num_heads)
    heads = weights @ value
    kept = torch.arange(attention_layer.num_heads, device=tokens.device) != head
    return attention_layer.W_O(merge_heads(heads * kept[:, None, None]))

# %% [wrong] no_w_o | The merged heads are returned without W_O.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    value = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    heads = weights @ value
    kept = torch.arange(attention_layer.num_heads, device=tokens.device) != head
    return merge_heads(heads * kept[:, None, None])

# %% [wrong] head_axis_from_front | heads[head] takes the first axis, which is the batch when there is one.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    value = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    heads = weights @ value
    heads = heads.clone()
    heads[head] = 0.0
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] tuple_returned | Output and weights are returned, though the output alone is asked for.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    value = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    heads = weights @ value
    kept = torch.arange(attention_layer.num_heads, device=tokens.device) != head
    return attention_layer.W_O(merge_heads(heads * kept[:, None, None])), weights

# %% [wrong] contribution_returned | It returns what the head adds (output minus output without it) instead of what is left.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    value = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    heads = weights @ value
    kept = torch.arange(attention_layer.num_heads, device=tokens.device) != head
    without = attention_layer.W_O(merge_heads(heads * kept[:, None, None]))
    return attention_layer(tokens, context, mask)[0] - without
