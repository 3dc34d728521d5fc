# %% [right] pre_hook_on_the_output_projection | a forward pre-hook on W_O zeroes the slice of the head, removed in finally, after aerovfx/Aero-HowtoLLMs (forward pre-hook on c_proj)
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    d_head = attention_layer.W_O.in_features // attention_layer.num_heads

    def zero_slice(module, inputs):
        (joined,) = inputs
        joined = joined.clone()
        joined[..., head * d_head : (head + 1) * d_head] = 0
        return (joined,)

    handle = attention_layer.W_O.register_forward_pre_hook(zero_slice)
    try:
        return attention_layer(tokens, context, mask)[0]
    finally:
        handle.remove()


# %% [right] deepcopy_and_zero_columns | a deep copy of the layer whose W_O columns are zeroed, after pmichel31415/are-16-heads-really-better-than-1 (pruning)
from copy import deepcopy


def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    pruned = deepcopy(attention_layer)
    width = pruned.W_O.weight.shape[1] // pruned.num_heads
    with torch.no_grad():
        pruned.W_O.weight[:, head * width : (head + 1) * width] = 0.0
    output, _ = pruned(tokens, context, mask)
    return output


# %% [right] head_mask_times_heads | weights times values, multiplied by a head mask of ones and one zero, after a BERT head importance script with a head_mask of ones (relogic)
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    H = attention_layer.num_heads
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context, mask)
    values = attention_layer.W_V(source)
    values = values.reshape(*values.shape[:-1], H, -1).transpose(-3, -2)
    head_mask = torch.ones(H, dtype=weights.dtype, device=weights.device)
    head_mask[head] = 0
    z = (weights * head_mask.view(H, 1, 1)) @ values
    return attention_layer.W_O(z.transpose(-3, -2).flatten(-2))


# %% [right] output_less_one_summand | the full output minus what the head adds through its columns, after neelnanda-io/TransformerLens (result per head)
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, weights = attention_layer(tokens, context, mask)
    context = tokens if context is None else context
    n_heads = attention_layer.num_heads
    W_V_h = attention_layer.W_V.weight.chunk(n_heads, dim=0)[head]
    W_O_h = attention_layer.W_O.weight.chunk(n_heads, dim=1)[head]
    result = weights[..., head, :, :] @ (context @ W_V_h.T) @ W_O_h.T
    return output - result


# %% [right] functional_call_with_other_weights | torch.func.functional_call with a changed W_O weight, after torch.func tutorials (model ensembling)
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    weight = attention_layer.W_O.weight
    keep = torch.ones_like(weight).unflatten(1, (attention_layer.num_heads, -1))
    keep[:, head] = 0.0
    changed = {"W_O.weight": weight * keep.flatten(1)}
    return torch.func.functional_call(attention_layer, changed, (tokens, context, mask))[0]


# %% [right] index_fill_of_split_heads | heads rebuilt, index_fill with zero on the head axis, einsum over the rest, after jessevig/bertviz style intervention code
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, alpha = attention_layer(tokens, context, mask)
    source = tokens if context is None else context
    value = split_heads(attention_layer.W_V(source), attention_layer.num_heads)
    z = torch.einsum("...hts,...hsd->...htd", alpha, value)
    z = z.index_fill(-3, torch.tensor([head], device=z.device), 0.0)
    return attention_layer.W_O(merge_heads(z))


# %% [right] slice_assignment_under_no_grad | z[..., head, :, :] = 0 under no_grad, after a head ablation hook (value[:, :, head_index] = 0.) (unsure: gradients)
@torch.no_grad()
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    _, pattern = attention_layer(tokens, context, mask)
    v = attention_layer.W_V(context if context is not None else tokens)
    v = v.unflatten(-1, (attention_layer.num_heads, -1)).transpose(-3, -2)
    z = pattern @ v
    z[..., head, :, :] = 0.0
    return attention_layer.W_O(z.transpose(-3, -2).flatten(-2))
