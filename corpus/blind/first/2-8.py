# %% [wrong] query_zeroed | Only the head's query is set to zero (its rows of W_Q); it then attends to all keys alike and still brings something back.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    import copy
    layer = copy.deepcopy(attention_layer)
    d_head = layer.W_Q.weight.shape[0] // layer.num_heads
    with torch.no_grad():
        layer.W_Q.weight[head * d_head:(head + 1) * d_head] = 0
    return layer(tokens, context, mask)[0]

# %% [wrong] others_scaled_up | The remaining heads are scaled up by H / (H − 1), as dropout does; they should be left as they are.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    H = attention_layer.num_heads
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(source), H)
    heads = weights @ values
    keep = torch.ones(H, 1, 1, dtype=heads.dtype, device=heads.device)
    keep[head] = 0
    heads = heads * keep * H / (H - 1)
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] layer_left_changed | The head's columns of W_O are set to zero in the layer itself and never put back, so the layer is changed.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    W = attention_layer.W_O.weight
    d_head = W.shape[1] // attention_layer.num_heads
    with torch.no_grad():
        W[:, head * d_head : (head + 1) * d_head] = 0.0
    return attention_layer(tokens, context, mask)[0]

# %% [wrong] rows_of_w_o | The rows of W_O are set to zero and not its columns: that removes features of the output, not a head.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    import copy
    copied = copy.deepcopy(attention_layer)
    d_model = copied.W_O.weight.shape[0]
    size = d_model // copied.num_heads
    start = head * size
    with torch.no_grad():
        copied.W_O.weight[start : start + size, :] = 0
    output, _ = copied(tokens, context=context, mask=mask)
    return output

# %% [wrong] mask_ignored | The mask is not handed to the layer.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = context if context is not None else tokens
    _, weights = attention_layer(tokens, context)
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    heads = weights @ values
    heads[..., head, :, :] = 0
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] values_of_the_tokens | The values are always made from the tokens, also where a context is given.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(tokens), attention_layer.num_heads)
    per_head = weights @ values
    per_head[..., head, :, :] = 0
    return attention_layer.W_O(merge_heads(per_head))

# %% [wrong] weights_too | It returns the pair (output, weights), the output alone is asked for.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    weights = weights.clone()
    weights[..., head, :, :] = 0
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    output = attention_layer.W_O(merge_heads(weights @ values))
    return output, weights

# %% [wrong] only_this_head | It returns what this head contributes and not the output without it.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    all_heads = weights @ values
    kept = torch.zeros_like(all_heads)
    kept[..., head, :, :] = all_heads[..., head, :, :]
    return attention_layer.W_O(merge_heads(kept))

# %% [wrong] output_projection_missing | The merged heads are returned without being put through W_O.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    x = tokens if context is None else context
    weights = attention_layer(tokens, context, mask)[1]
    v = split_heads(attention_layer.W_V(x), attention_layer.num_heads)
    out = weights @ v
    out = out.index_fill(-3, torch.tensor([head], device=out.device), 0.0)
    return merge_heads(out)

# %% [wrong] every_hth_feature | Every H-th feature of the merged heads is set to zero; a head's features lie together, from h · d_head on.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    H = attention_layer.num_heads
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    merged = merge_heads(weights @ split_heads(attention_layer.W_V(source), H))
    merged[..., head::H] = 0
    return attention_layer.W_O(merged)

# %% [wrong] counted_from_one | Heads are counted from 1: head − 1 is removed, so head 0 removes the last one.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    heads = list((weights @ values).unbind(-3))
    heads[head - 1] = torch.zeros_like(heads[head - 1])
    return attention_layer.W_O(torch.cat(heads, dim=-1))

# %% [wrong] left_in_training_mode | The layer is put back into training mode at the end, but it came in evaluation mode and should stay so.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    attention_layer.eval()
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    keep = torch.ones(attention_layer.num_heads, device=weights.device, dtype=weights.dtype)
    keep[head] = 0
    output = attention_layer.W_O(merge_heads(keep[:, None, None] * (weights @ values)))
    attention_layer.train()
    return output

# %% [wrong] restored_from_same_tensor | The weights of W_O are "saved" without a copy, so what is put back is the already zeroed tensor and the layer stays changed.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    d_head = attention_layer.W_O.in_features // attention_layer.num_heads
    saved = attention_layer.W_O.weight.data
    attention_layer.W_O.weight.data[:, head * d_head:(head + 1) * d_head] = 0
    output, _ = attention_layer(tokens, context, mask)
    attention_layer.W_O.weight.data = saved      # restore
    return output

# %% [wrong] one_batch_axis_only | weights[:, head] counts the head axis from the front, which is right for exactly one batch axis.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    output, weights = attention_layer(tokens, context, mask)
    weights = weights.clone()
    weights[:, head] = 0
    v = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    return attention_layer.W_O(merge_heads(weights @ v))

# %% [wrong] columns_of_w_v | The columns of W_V are set to zero; a head's values come from the rows of W_V, its columns are input features.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    from copy import deepcopy
    layer = deepcopy(attention_layer)
    d_model = layer.W_V.weight.shape[0]
    d_head = d_model // layer.num_heads
    with torch.no_grad():
        layer.W_V.weight[:, head * d_head:(head + 1) * d_head].zero_()
    return layer(tokens, context, mask)[0]

# %% [wrong] four_heads_assumed | The number of heads is hard-coded as 4, so the slice is wrong for layers with another number.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    output, weights = attention_layer(tokens, context, mask)
    d_head = tokens.shape[-1] // 4
    cols = slice(head * d_head, (head + 1) * d_head)
    values = attention_layer.W_V(source)[..., cols]
    contribution = (weights[..., head, :, :] @ values) @ attention_layer.W_O.weight[:, cols].T
    return output - contribution

# %% [wrong] mean_ablation | The head's output is replaced by its mean over the queries, so it still contributes; it should contribute nothing.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    z = weights @ split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    z = z.clone()
    z[..., head, :, :] = z[..., head, :, :].mean(dim=-2, keepdim=True)
    return attention_layer.W_O(merge_heads(z))

# %% [wrong] mask_and_context_swapped_and_no_return | context and mask are handed to the layer in the wrong order AND nothing is returned.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, mask, context)
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    heads = weights @ values
    heads[..., head, :, :] = 0
    output = attention_layer.W_O(merge_heads(heads))

# %% [wrong] others_take_over | After the head's weights are set to zero, the other heads' weights are made larger to take over its share; they should stay as they are.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, w = attention_layer(tokens, context, mask)
    total = w.sum(dim=-3, keepdim=True)
    w = w.clone()
    w[..., head, :, :] = 0
    w = w * total / w.sum(dim=-3, keepdim=True).clamp_min(1e-9)
    v = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    return attention_layer.W_O(merge_heads(w @ v))

# %% [right] subtract_contribution | Subtracts from the full output what the head adds through its columns of W_O.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, weights = attention_layer(tokens, context, mask)
    source = tokens if context is None else context
    d_head = attention_layer.W_O.weight.shape[1] // attention_layer.num_heads
    own = slice(head * d_head, (head + 1) * d_head)
    brought = weights[..., head, :, :] @ attention_layer.W_V(source)[..., own]
    return output - F.linear(brought, attention_layer.W_O.weight[:, own])

# %% [right] deepcopy_columns | Works on a deep copy of the layer with the head's columns of W_O set to zero.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    import copy

    layer = copy.deepcopy(attention_layer)
    per_head = layer.W_O.weight.shape[1] // layer.num_heads
    with torch.no_grad():
        layer.W_O.weight[:, head * per_head : (head + 1) * per_head].zero_()
    output, _ = layer(tokens, context, mask)
    return output

# %% [right] functional_call | torch.func.functional_call with a masked W_O; the layer is never touched.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    W = attention_layer.W_O.weight
    belongs_to = torch.arange(W.shape[1], device=W.device) // (W.shape[1] // attention_layer.num_heads)
    without = {"W_O.weight": W * (belongs_to != head).to(W.dtype)}
    return torch.func.functional_call(attention_layer, without, (tokens, context, mask))[0]

# %% [right] heads_kept | Zero weights by torch.where, split, merge, W_O, as in the hint.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    """The output of a layer without one of its heads."""
    H = attention_layer.num_heads
    _, weights = attention_layer(tokens, context=context, mask=mask)
    removed = (torch.arange(H, device=weights.device) == head).view(H, 1, 1)
    weights = torch.where(removed, torch.zeros_like(weights), weights)
    values = split_heads(attention_layer.W_V(tokens if context is None else context), H)
    return attention_layer.W_O(merge_heads(weights @ values))
