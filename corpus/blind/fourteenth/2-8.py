# %% [wrong] rows_of_the_output_matrix | The head's rows of W_O are set to zero and not its columns: that blanks numbers of the output, to which all heads contribute.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    from copy import deepcopy

    silent = deepcopy(attention_layer)
    d_head = silent.W_O.weight.shape[0] // silent.num_heads
    with torch.no_grad():
        silent.W_O.weight[head * d_head : (head + 1) * d_head] = 0
    return silent(tokens, context, mask)[0]

# %% [wrong] other_heads_made_louder | After one head is taken away the others are multiplied by H / (H − 1), as dropout would; they should stay as they are.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    heads = attention_layer.num_heads
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    seen = weights @ split_heads(attention_layer.W_V(source), heads)
    keep = torch.ones(heads, 1, 1, dtype=seen.dtype, device=seen.device)
    keep[head] = 0
    seen = seen * keep * heads / max(heads - 1, 1)
    return attention_layer.W_O(merge_heads(seen))

# %% [wrong] heads_counted_from_one | Heads are counted from 1 (head − 1 is taken away), though they go from 0 to H − 1.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(tokens if context is None else context), attention_layer.num_heads)
    index = head - 1
    brought = weights.select(-3, index) @ values.select(-3, index)
    slices = attention_layer.W_O.weight.chunk(attention_layer.num_heads, dim=1)
    return output - brought @ slices[index].T
