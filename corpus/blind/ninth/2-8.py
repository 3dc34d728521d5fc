# %% [wrong] saved_weights_are_no_copy | Sets the head's columns of W_O to 0 and puts the weights back from state_dict(). That is no copy: it shows the changed weights, and the layer stays damaged. The first output is right, all later ones of the layer are not.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    saved = attention_layer.state_dict()
    width = attention_layer.W_O.weight.shape[1] // attention_layer.num_heads
    with torch.no_grad():
        attention_layer.W_O.weight[:, head * width : (head + 1) * width] = 0
        output, _ = attention_layer(tokens, context, mask)
    attention_layer.load_state_dict(saved)
    return output

# %% [wrong] hook_stays_on_the_layer | Silences the head with a hook on W_O and never removes it. The output is right once; the layer should stay as it is, and each later call lacks this head, too.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    def silence(module, inputs):
        joined = inputs[0].unflatten(-1, (attention_layer.num_heads, -1)).clone()
        joined[..., head, :] = 0
        return (joined.flatten(-2),)

    attention_layer.W_O.register_forward_pre_hook(silence)
    return attention_layer(tokens, context, mask)[0]

# %% [wrong] heads_close_ranks | Takes the head out of the list and fills up with zeros at the end. The heads behind it move up and meet the wrong columns of W_O: right for the last head only.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    brought = weights @ split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    others = [one for h, one in enumerate(brought.unbind(-3)) if h != head]
    others.append(torch.zeros_like(brought[..., head, :, :]))
    return attention_layer.W_O(torch.cat(others, dim=-1))

# %% [wrong] others_made_louder | Multiplies what is left by H / (H - 1), as dropout does. The other heads should stay as they are: the parts no longer add up to the output, and with one head it is a division by 0.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    H = attention_layer.num_heads
    _, weights = attention_layer(tokens, context=context, mask=mask)
    values = split_heads(attention_layer.W_V(tokens if context is None else context), H)
    keep = torch.ones(H, 1, 1, dtype=values.dtype, device=values.device)
    keep[head] = 0
    heads = weights @ values * keep * (H / (H - 1))
    return attention_layer.W_O(merge_heads(heads))

# %% [wrong] every_Hth_column_of_W_O | Subtracts the head's part with every H-th column of W_O. The columns of a head are neighbours, from head·d_head on: numbers of this head are multiplied with columns of all heads.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    H = attention_layer.num_heads
    output, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(tokens if context is None else context), H)
    brought = weights[..., head, :, :] @ values[..., head, :, :]
    return output - F.linear(brought, attention_layer.W_O.weight[:, head::H])

# %% [wrong] context_never_none | Makes the values from context, and forgets that it is None in self-attention, where the tokens are their own context: a TypeError there.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, weights = attention_layer(tokens, context, mask)
    values = split_heads(attention_layer.W_V(context), attention_layer.num_heads)
    index = torch.tensor([head], device=weights.device)
    weights = weights.index_fill(-3, index, 0.0)
    return attention_layer.W_O(merge_heads(weights @ values))

# %% [right] functional_call_with_other_values | Runs the untouched layer with torch.func.functional_call and a substitute for W_V whose rows of this head are zero.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    weight = attention_layer.W_V.weight
    rows = torch.arange(weight.shape[0], device=weight.device) // (weight.shape[0] // attention_layer.num_heads)
    silent = torch.where((rows == head).unsqueeze(-1), torch.zeros_like(weight), weight)
    output, _ = torch.func.functional_call(
        attention_layer, {"W_V.weight": silent}, (tokens,), {"context": context, "mask": mask}
    )
    return output
