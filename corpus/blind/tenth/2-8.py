# %% [wrong] rows_of_w_o | The rows of W_O.weight are set to zero in place of its columns. nn.Linear keeps (output, input), so the rows are outputs: some numbers of the result become 0 for all heads, and the head still contributes to the others.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    context = tokens if context is None else context
    H = attention_layer.num_heads
    _, weights = attention_layer(tokens, context, mask)
    v = split_heads(attention_layer.W_V(context), H)
    joined = merge_heads(weights @ v)
    d_head = joined.shape[-1] // H
    W = attention_layer.W_O.weight.clone()
    W[head * d_head : (head + 1) * d_head, :] = 0
    return joined @ W.T

# %% [wrong] head_stays_away | The columns of W_O are zeroed in the layer itself and never put back: the output is right, but the head is missing from the layer afterwards. The layer must stay as it is.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    weight = attention_layer.W_O.weight
    width = weight.shape[1] // attention_layer.num_heads
    with torch.no_grad():
        weight[:, head * width : (head + 1) * width] = 0.0
    output, _ = attention_layer(tokens, context, mask)
    return output

# %% [wrong] the_rest_is_scaled_up | What is left is multiplied by H / (H − 1), as dropout does, to make up for the missing head. The other heads should stay as they are.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    H = attention_layer.num_heads
    source = context if context is not None else tokens
    weights = attention_layer(tokens, context=context, mask=mask)[1]
    values = split_heads(attention_layer.W_V(source), H)
    keep = torch.ones(H, 1, 1, device=tokens.device, dtype=tokens.dtype)
    keep[head] = 0
    brought = (weights @ values) * keep * (H / (H - 1))
    return attention_layer.W_O(merge_heads(brought))

# %% [wrong] head_replaced_by_its_mean | The head's output is replaced by its mean over the queries (mean ablation) in place of being removed. The head still contributes, the same to every token; what it adds should be gone.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    if context is None:
        context = tokens
    _, weights = attention_layer(tokens, context, mask)
    heads = weights @ split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    heads = heads.clone()
    heads[..., head, :, :] = heads[..., head, :, :].mean(dim=-2, keepdim=True)
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] layer_left_in_training_mode | The output is right, but at the end layer.train() is called "to put it back": the layer was in evaluation mode and is in training mode afterwards. The mode must stay.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    attention_layer.eval()
    ctx = tokens if context is None else context
    with torch.no_grad():
        w = attention_layer(tokens, context, mask)[1]
    v = split_heads(attention_layer.W_V(ctx), attention_layer.num_heads)
    out = w @ v
    out = torch.stack([torch.zeros_like(o) if h == head else o for h, o in enumerate(out.unbind(-3))], dim=-3)
    result = attention_layer.W_O(merge_heads(out))
    attention_layer.train()
    return result

# %% [right] whole_minus_one_contribution | Subtracts from the whole output what the head adds: its map times its columns of the values, through its columns of W_O.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    whole, maps = attention_layer(tokens, context, mask)
    width = whole.shape[-1] // attention_layer.num_heads
    mine = slice(head * width, head * width + width)
    seen = tokens if context is None else context
    value = F.linear(seen, attention_layer.W_V.weight[mine])
    return whole - F.linear(maps.select(-3, head) @ value, attention_layer.W_O.weight[:, mine])
