# %% [wrong] columns_zeroed_after_W_O | The head's columns are set to zero in the output, after W_O has mixed all heads. There every column holds something of every head. Set them to zero before W_O.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    output, _ = attention_layer(tokens, context, mask)
    d_head = output.shape[-1] // attention_layer.num_heads
    output = output.clone()
    output[..., head * d_head:(head + 1) * d_head] = 0.0
    return output
# %% [wrong] others_made_larger | The heads that are left are multiplied by H / (H - 1), as dropout would do. Ablation takes one summand away and leaves the others as they are.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    """The output of a layer without one of its heads."""
    H = attention_layer.num_heads
    source = tokens if context is None else context
    _, weights = attention_layer(tokens, context=context, mask=mask)
    values = split_heads(attention_layer.W_V(source), H)
    keep = torch.ones(H, 1, 1, dtype=values.dtype, device=values.device)
    keep[head] = 0
    keep = keep * H / max(H - 1, 1)
    return attention_layer.W_O(merge_heads(keep * (weights @ values)))
# %% [wrong] saved_weights_are_the_same_memory | The weights of W_O are saved without a copy, so the saved tensor is zeroed along with the layer, and putting it back changes nothing: the layer stays damaged. Save a clone, or do not touch the layer at all.
def ablate_head(attention_layer, head, tokens, context=None, mask=None):
    W = attention_layer.W_O.weight
    d_head = W.shape[1] // attention_layer.num_heads
    saved = W.data
    W.data[:, head * d_head:(head + 1) * d_head] = 0
    output, _ = attention_layer(tokens, context, mask)
    W.data = saved          # put the old weights back
    return output
