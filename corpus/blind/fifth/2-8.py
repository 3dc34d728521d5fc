# %% [wrong] weights_overwritten | the head's columns of W_O are set to zero in the layer itself and never restored: the layer must stay as it is
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    d_head = attention_layer.W_O.weight.shape[1] // attention_layer.num_heads
    with torch.no_grad():
        attention_layer.W_O.weight[:, head * d_head : (head + 1) * d_head] = 0
    return attention_layer(tokens, context, mask)[0]

# %% [wrong] rows_of_w_o | the head's rows of W_O.weight are cleared in place of its columns; rows belong to the output's numbers, so a part of the output is 0 and the head still speaks in the rest
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    merged = merge_heads(weights @ split_heads(attention_layer.W_V(source), attention_layer.num_heads))
    W = attention_layer.W_O.weight.clone()
    d = W.shape[0] // attention_layer.num_heads
    W[head * d : (head + 1) * d] = 0
    return merged @ W.T

# %% [wrong] only_this_head | it returns what the head contributes, not the output without it: the mask that keeps heads is turned round
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    heads = weights @ values
    keep = torch.zeros_like(heads)
    keep[..., head, :, :] = 1
    return attention_layer.W_O(merge_heads(heads * keep))

# %% [wrong] zero_on_first_axis | heads[head] = 0 indexes the first axis; with a batch that silences a scene and not a head (without a batch it happens to be right)
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = context if context is not None else tokens
    weights = attention_layer(tokens, context, mask)[1]
    heads = weights @ split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    heads = heads.clone()
    heads[head] = 0
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] rescaled_rest | the other heads are multiplied by H/(H−1), as dropout would; they should stay as they are, and the differences no longer add up to the output
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    H = attention_layer.num_heads
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    brought = (weights @ split_heads(attention_layer.W_V(source), H)).clone()
    brought[..., head, :, :] = 0
    return attention_layer.W_O(merge_heads(brought * H / (H - 1)))

# %% [wrong] values_of_tokens | the values are always made from the tokens, even where there is a context; with cross-attention the lengths do not fit or the wrong side answers
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(tokens), attention_layer.num_heads).clone()
    values[..., head, :, :] = 0.0
    return attention_layer.W_O(merge_heads(weights @ values))

# %% [right] output_minus_the_summand | the whole output minus the one summand of this head, with its own slices of values and of W_O
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, weights = attention_layer(tokens, context, mask)
    width = attention_layer.W_O.weight.shape[1] // attention_layer.num_heads
    own = slice(head * width, head * width + width)
    value = attention_layer.W_V(tokens if context is None else context)[..., own]
    brought = weights.select(-3, head) @ value
    return output - F.linear(brought, attention_layer.W_O.weight[:, own])
