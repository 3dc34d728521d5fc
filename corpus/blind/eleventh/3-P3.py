# %% [wrong] mask_turned_round | The mask is negated before it goes into the kernel, as if True meant "hidden". In this course and in F.scaled_dot_product_attention True means "may attend", so each word sees exactly what it should not.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    if mask is not None:
        mask = ~mask
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] causal_whenever_masked | Whatever mask is handed in, the kernel gets is_causal=True in its place. For a causal mask the result is right; for a padding mask or a band the words see other keys than the mask allows.
def fused_forward(layer, tokens, context=None, mask=None):
    if context is None:
        context = tokens

    def heads(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3)

    fused = F.scaled_dot_product_attention(
        heads(layer.W_Q(tokens)), heads(layer.W_K(context)), heads(layer.W_V(context)), is_causal=mask is not None
    )
    return layer.W_O(fused.transpose(-2, -3).flatten(-2))

# %% [wrong] no_axis_for_the_heads | The mask goes into the kernel as it is. (T, S) fits, but a mask with a batch (B, T, S) is lined up with the heads: it stops with an error, or, with as many heads as scenes, each head gets the mask of another scene.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = context if context is not None else tokens
    split = lambda x: x.reshape(*x.shape[:-1], layer.num_heads, -1).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(source)), split(layer.W_V(source))
    seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    seen = seen.transpose(-3, -2)
    return layer.W_O(seen.reshape(*seen.shape[:-2], -1))

# %% [wrong] scaled_by_d_model | The scores are scaled by 1/√d_model. A head compares vectors of d_model / H numbers, so it should be 1/√d_head, which is what the kernel does by itself; with more than one head the weights come out too even.
def fused_forward(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context
    d_model = tokens.shape[-1]
    q, k, v = (
        W(x).unflatten(-1, (layer.num_heads, d_model // layer.num_heads)).movedim(-2, -3)
        for W, x in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    if mask is not None and mask.dim() >= 3:
        mask = mask.unsqueeze(-3)
    o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=d_model ** -0.5)
    return layer.W_O(o.movedim(-3, -2).flatten(-2))

# %% [wrong] joins_without_swapping_back | The heads (..., H, T, d_head) are reshaped to (..., T, d_model) without swapping heads and words back first. The shape is right, but the numbers of different words are mixed before W_O.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    heads = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (heads, -1)).transpose(-3, -2)
    key = layer.W_K(context).unflatten(-1, (heads, -1)).transpose(-3, -2)
    value = layer.W_V(context).unflatten(-1, (heads, -1)).transpose(-3, -2)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    attended = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(attended.reshape(tokens.shape))

# %% [right] flat_batch_and_additive_mask | All leading axes are folded into one, the bool mask becomes an additive one, and words that may look nowhere are set to zero at the end, as the layer does.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    given = tokens if context is None else context
    *lead, T, _ = tokens.shape
    S, H = given.shape[-2], layer.num_heads

    def to_heads(projected, length):
        return projected.reshape(-1, length, H, projected.shape[-1] // H).permute(0, 2, 1, 3)

    query = to_heads(layer.W_Q(tokens), T)
    key, value = to_heads(layer.W_K(given), S), to_heads(layer.W_V(given), S)
    bias = lost = None
    if mask is not None:
        allowed = mask.expand(*lead, T, S).reshape(-1, 1, T, S)
        lost = ~allowed.any(-1, keepdim=True)
        bias = query.new_zeros(allowed.shape).masked_fill(~(allowed | lost), float("-inf"))
    brought = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    if lost is not None:
        brought = brought.masked_fill(lost, 0.0)
    return layer.W_O(brought.permute(0, 2, 1, 3).reshape(*lead, T, -1))
