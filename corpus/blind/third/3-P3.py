# %% [wrong] mask_reversed | Hands ~mask to the kernel, as for nn.MultiheadAttention; here True means "may attend" as it does in the course.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    if mask is not None:
        mask = ~mask if mask.ndim == 2 else ~mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context)), attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] no_head_axis_in_mask | A mask with a batch is handed on without an axis for the heads, so its batch meets the heads.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = context if context is not None else tokens
    H = layer.num_heads
    q, k, v = (x.unflatten(-1, (H, x.shape[-1] // H)).movedim(-2, -3) for x in (layer.W_Q(tokens), layer.W_K(source), layer.W_V(source)))
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(heads.movedim(-3, -2).flatten(-2))

# %% [wrong] causal_whatever_the_mask | Says is_causal=True wherever there is a mask, and never looks at the mask itself.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    query, key, value = layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)
    query, key, value = (torch.stack(x.chunk(layer.num_heads, -1), -3) for x in (query, key, value))
    fused = F.scaled_dot_product_attention(query, key, value, is_causal=mask is not None)
    return layer.W_O(torch.cat(fused.unbind(-3), -1))

# %% [wrong] heads_not_swapped_back | Flattens the heads without swapping heads and tokens back: the shape fits, the numbers are mixed up.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-2, -3)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-2, -3)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-2, -3)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return layer.W_O(out.reshape(tokens.shape))

# %% [wrong] never_split | Attends with all of d_model at once, as one single head; the heads are never split.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    query, key, value = layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)
    return layer.W_O(F.scaled_dot_product_attention(query, key, value, attn_mask=mask))

# %% [wrong] without_w_o | Joins the heads and stops; the output projection W_O is missing.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context

    def heads_of(projected):
        return projected.unflatten(-1, (layer.num_heads, -1)).swapaxes(-2, -3)

    if mask is not None and mask.ndim > 2:
        mask = mask[..., None, :, :]
    out = F.scaled_dot_product_attention(
        heads_of(layer.W_Q(tokens)), heads_of(layer.W_K(context)), heads_of(layer.W_V(context)), attn_mask=mask
    )
    return out.swapaxes(-2, -3).flatten(-2)

# %% [right] flat_batch_of_four_axes | Brings everything to exactly four axes first, calls the kernel, treats queries that may look nowhere, and restores the shape.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    lead, T, S = tokens.shape[:-2], tokens.shape[-2], context.shape[-2]
    H = layer.num_heads

    def four(x, n):
        return x.reshape(-1, n, H, x.shape[-1] // H).permute(0, 2, 1, 3)

    q, k, v = four(layer.W_Q(tokens), T), four(layer.W_K(context), S), four(layer.W_V(context), S)
    nowhere = None
    if mask is not None:
        mask = mask.expand(*lead, T, S).reshape(-1, 1, T, S)
        nowhere = mask.logical_not().all(-1, keepdim=True)
        mask = mask | nowhere
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    if nowhere is not None:
        out = out.masked_fill(nowhere, 0.0)
    return layer.W_O(out.permute(0, 2, 1, 3).reshape(*lead, T, -1))
