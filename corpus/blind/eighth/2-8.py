# %% [wrong] columns_of_the_output | The head's columns are set to zero in the output, after W_O has mixed all heads; they should be taken away before it. All heads lose those columns, and the head in question keeps its part in the others.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, _ = attention_layer(tokens, context, mask)
    d_head = output.shape[-1] // attention_layer.num_heads
    output = output.clone()
    output[..., head * d_head : (head + 1) * d_head] = 0
    return output

# %% [wrong] the_others_speak_louder | What is left is multiplied by H / (H − 1), as dropout would do; the other heads should stay as they are. The differences do not add up to the output, and with one head it divides by zero.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    H = attention_layer.num_heads
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    heads = weights @ split_heads(attention_layer.W_V(source), H)
    kept = torch.ones(H, device=heads.device, dtype=heads.dtype)
    kept[head] = 0
    heads = heads * kept[:, None, None] * H / kept.sum()
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] values_from_the_tokens | The values are made from the tokens even where there is a context; they should come from the context. Right for self-attention, an error or wrong numbers for cross-attention.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, weights = attention_layer(tokens, context=context, mask=mask)
    value = split_heads(attention_layer.W_V(tokens), attention_layer.num_heads)
    alive = [number != head for number in range(attention_layer.num_heads)]
    alive = torch.tensor(alive, device=value.device).to(value.dtype)
    return attention_layer.W_O(merge_heads(weights @ value * alive.reshape(-1, 1, 1)))

# %% [wrong] axis_one_is_the_heads_only_with_a_batch | heads[:, head] = 0 takes axis 1 for the heads, which holds for one batch axis alone; it should be heads[..., head, :, :]. Without a batch a token of every head is silenced.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, weights = attention_layer(tokens, context, mask)
    source = tokens if context is None else context
    heads = weights @ split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    heads = heads.clone()
    heads[:, head] = 0
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] the_layer_stays_damaged | The head's columns of W_O are set to zero in the layer itself and never put back; the layer must stay as it is. The output is right, and every later call is without that head.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    weight = attention_layer.W_O.weight
    d_head = weight.shape[1] // attention_layer.num_heads
    with torch.no_grad():
        weight[:, head * d_head : (head + 1) * d_head] = 0
    output, _ = attention_layer(tokens, context, mask)
    return output

# %% [wrong] heads_counted_from_one | The slice is that of head − 1, as if heads were counted from 1; they are 0…H−1. Another head is taken away, and for head 0 the slice is empty, so nothing is.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, weights = attention_layer(tokens, context, mask)
    source = tokens if context is None else context
    d_head = output.shape[-1] // attention_layer.num_heads
    columns = slice((head - 1) * d_head, head * d_head)
    brought = weights[..., head - 1, :, :] @ attention_layer.W_V(source)[..., columns]
    return output - brought @ attention_layer.W_O.weight[:, columns].T

# %% [right] subtract_what_it_adds | The whole output less what this one head adds through its own columns of W_O; nothing in the layer is touched.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, weights = attention_layer(tokens, context, mask)
    source = tokens if context is None else context
    d_head = output.shape[-1] // attention_layer.num_heads
    value = attention_layer.W_V(source).narrow(-1, head * d_head, d_head)
    brought = weights.select(-3, head) @ value
    return output - F.linear(brought, attention_layer.W_O.weight.narrow(1, head * d_head, d_head))
