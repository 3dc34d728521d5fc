# %% [wrong] query_zeroed | The head's query is set to zero; it then attends to all keys evenly and still brings their mean value back, so its contribution is changed and not removed
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    H = attention_layer.num_heads
    q = split_heads(attention_layer.W_Q(tokens), H).clone()
    k, v = split_heads(attention_layer.W_K(source), H), split_heads(attention_layer.W_V(source), H)
    q[..., head, :, :] = 0
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out, _ = masked_attention(q, k, v, mask)
    return attention_layer.W_O(merge_heads(out))

# %% [wrong] layer_changed | The head's columns of W_O are set to zero in the layer itself and never put back: the output is right once, and the layer has lost the head for good
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    d_head = attention_layer.W_O.in_features // attention_layer.num_heads
    with torch.no_grad():
        attention_layer.W_O.weight[:, head * d_head:(head + 1) * d_head] = 0.0
    return attention_layer(tokens, context, mask)[0]

# %% [wrong] rows_of_W_O | The rows of W_O are zeroed instead of the columns: that blanks some numbers of the output, to which all heads contribute, and leaves the head in the others
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, w = attention_layer(tokens, source, mask)
    heads = w @ split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    d_head = heads.shape[-1]
    W = attention_layer.W_O.weight.clone()
    W[head * d_head:(head + 1) * d_head] = 0
    return F.linear(merge_heads(heads), W)

# %% [wrong] context_none | W_V is applied to context, which is None in self-attention: calling it without a context raises an error; it should fall back to the tokens
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, weights = attention_layer(tokens, context, mask)
    value = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    brought = weights @ value
    keep = torch.ones(attention_layer.num_heads, 1, 1, device=tokens.device)
    keep[head] = 0
    return attention_layer.W_O(merge_heads(brought * keep))

# %% [wrong] others_scaled_up | The other heads are multiplied by H/(H − 1) to make up for the missing one, as dropout does; the task leaves them as they are, so the differences do not add up to the output
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    H = attention_layer.num_heads
    _, weights = attention_layer(tokens, context, mask)
    parts = list((weights @ split_heads(attention_layer.W_V(source), H)).unbind(-3))
    parts[head] = torch.zeros_like(parts[head])
    return attention_layer.W_O(torch.cat(parts, dim=-1)) * H / max(H - 1, 1)

# %% [wrong] mask_dropped | The weights are asked for without the mask, so the remaining heads look at keys that are hidden
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    weights = attention_layer(tokens, source)[1]
    value = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    mixed = torch.einsum("...hts,...hsd->...htd", weights, value)
    on = torch.arange(attention_layer.num_heads, device=tokens.device) != head
    return attention_layer.W_O(merge_heads(mixed * on[:, None, None]))

# %% [right] subtract | the whole output minus what this head's columns of W_O make of its values
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    output, weights = attention_layer(tokens, context=context, mask=mask)
    value = attention_layer.W_V(source).chunk(attention_layer.num_heads, dim=-1)[head]
    columns = attention_layer.W_O.weight.chunk(attention_layer.num_heads, dim=1)[head]
    return output - F.linear(weights[..., head, :, :] @ value, columns)
