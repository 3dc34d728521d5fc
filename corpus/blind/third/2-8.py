# %% [wrong] weights_zeroed_for_good | Sets the head's columns of W_O to zero in the layer itself and never restores them: the layer does not stay as it is.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    d_head = attention_layer.W_O.in_features // attention_layer.num_heads
    with torch.no_grad():
        attention_layer.W_O.weight[:, head * d_head : (head + 1) * d_head] = 0
    return attention_layer(tokens, context, mask)[0]

# %% [wrong] saved_without_clone | Saves the weights without clone(), so the saved tensor is zeroed along with them and restoring restores nothing.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    weight = attention_layer.W_O.weight
    width = weight.shape[1] // attention_layer.num_heads
    saved = weight.data
    weight.data[:, head * width : (head + 1) * width] = 0.0
    output, _ = attention_layer(tokens, context, mask)
    weight.data.copy_(saved)
    return output

# %% [wrong] rows_of_w_o | Removes rows of W_O in place of columns: a part of the output of all heads goes, not the one head.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    H = attention_layer.num_heads
    joined = merge_heads(weights @ split_heads(attention_layer.W_V(context), H))
    matrix = attention_layer.W_O.weight.clone()
    d_head = matrix.shape[0] // H
    matrix[head * d_head : (head + 1) * d_head, :] = 0
    return F.linear(joined, matrix)

# %% [wrong] query_zeroed | Sets the head's query to zero: it then attends to all keys alike and still brings something back.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    q, k, v = (
        split_heads(layer(side), attention_layer.num_heads)
        for layer, side in zip((attention_layer.W_Q, attention_layer.W_K, attention_layer.W_V), (tokens, source, source))
    )
    keep = torch.ones(attention_layer.num_heads, 1, 1, device=q.device, dtype=q.dtype)
    keep[head] = 0
    mask = mask.unsqueeze(-3) if mask is not None and mask.ndim > 2 else mask
    heads, _ = masked_attention(q * keep, k, v, mask)
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] rescaled_rest | Multiplies what is left by H/(H − 1), as dropout would; the other heads must stay as they are.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    H = attention_layer.num_heads
    weights = attention_layer(tokens, context, mask)[1]
    heads = weights @ split_heads(attention_layer.W_V(context), H)
    keep = torch.arange(H, device=heads.device) != head
    heads = heads * keep.view(-1, 1, 1) * H / (H - 1)
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] no_context_no_values | Uses the context as it is; for self-attention it is None, and W_V(None) raises an error.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    brought = torch.zeros_like(weights @ values)
    brought[..., head, :, :] = (weights @ values)[..., head, :, :]
    return output - attention_layer.W_O(merge_heads(brought))

# %% [right] subtract_one_summand | Subtracts from the output what the one head adds: its weights times its values times its columns of W_O.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    output, weights = attention_layer(tokens, context, mask)
    d_head = output.shape[-1] // attention_layer.num_heads
    own = slice(head * d_head, (head + 1) * d_head)
    values = F.linear(source, attention_layer.W_V.weight[own])
    brought = weights[..., head, :, :] @ values
    return output - brought @ attention_layer.W_O.weight[:, own].mT
