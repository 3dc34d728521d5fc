# %% [wrong] columns_erased_for_good | Sets the head's columns of W_O to zero in the layer itself and never puts them back. The output is right, but afterwards the layer lacks this head, and the next ablation takes away two.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    W = attention_layer.W_O.weight
    d_head = W.shape[1] // attention_layer.num_heads
    with torch.no_grad():
        W[:, head * d_head : (head + 1) * d_head] = 0
    return attention_layer(tokens, context, mask)[0]


# %% [wrong] rows_of_w_o | Takes away the rows of W_O and not its columns. That sets some numbers of the output to zero, whichever head they come from, and the head itself still contributes to all others.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    merged = merge_heads(weights @ values)
    d_head = values.shape[-1]
    W_O = attention_layer.W_O.weight.clone()
    W_O[head * d_head : (head + 1) * d_head, :] = 0
    return F.linear(merged, W_O)


# %% [wrong] values_from_a_context_that_is_none | Makes the values from the context even where there is none. With context=None, where the tokens should answer, it stops with an error.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    weights = attention_layer(tokens, context=context, mask=mask)[1]
    v = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    per_head = torch.matmul(weights, v)
    keep = torch.ones(attention_layer.num_heads, 1, 1, dtype=v.dtype, device=v.device)
    keep[head] = 0
    return attention_layer.W_O(merge_heads(per_head * keep))


# %% [wrong] replaced_by_its_mean | Puts the head's mean over all tokens in place of what it brings (mean ablation, as some papers do it) and not zero. A part of the head's contribution stays in the output; with a single token nothing changes at all.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    H = attention_layer.num_heads
    _, weights = attention_layer(tokens, context, mask)
    brought = weights @ split_heads(attention_layer.W_V(source), H)
    average = brought.mean(dim=-2, keepdim=True).expand_as(brought)
    chosen = (torch.arange(H, device=tokens.device) == head).reshape(H, 1, 1)
    return attention_layer.W_O(merge_heads(torch.where(chosen, average, brought)))


# %% [wrong] the_others_made_louder | Multiplies what is left by H / (H - 1), as dropout does, to make up for the missing head. The other heads should stay as they are; with a single head it even divides by zero.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    src = context if context is not None else tokens
    n = attention_layer.num_heads
    w = attention_layer(tokens, context, mask)[1]
    out = list((w @ split_heads(attention_layer.W_V(src), n)).unbind(-3))
    out[head] = torch.zeros_like(out[head])
    rest = torch.cat(out, dim=-1) * n / (n - 1)
    return attention_layer.W_O(rest)


# %% [right] called_with_other_values | Runs the layer by functional_call with a copy of W_V in which the head's rows are zero; nothing of the layer is touched.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    rows = attention_layer.W_V.weight.unflatten(0, (attention_layer.num_heads, -1))
    others = torch.arange(attention_layer.num_heads, device=rows.device) != head
    silenced = {"W_V.weight": (rows * others[:, None, None]).flatten(0, 1)}
    return torch.func.functional_call(attention_layer, silenced, (tokens, context, mask))[0]
