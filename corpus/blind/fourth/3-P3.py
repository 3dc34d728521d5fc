# %% [wrong] mask_meets_the_heads | A mask with a batch gets no axis for the heads: the batch of the mask meets the heads.
def fused_forward(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context
    q, k, v = (
        proj(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for proj, x in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(heads.transpose(-3, -2).flatten(-2))


# %% [wrong] mask_turned_round | The mask is inverted, as for `nn.MultiheadAttention`; in the fused function True means "may attend" already.
def fused_forward(layer, tokens, context=None, mask=None):
    if context is None:
        context = tokens
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    if mask is not None:
        mask = ~mask
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(
        split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context)), attn_mask=mask
    )
    return layer.W_O(out.transpose(-3, -2).flatten(-2))


# %% [wrong] scaled_twice | The queries are divided by √d_head before the fused function, which divides once more.
def fused_forward(layer, tokens, context=None, mask=None):
    source = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    q = q / q.shape[-1] ** 0.5
    k = layer.W_K(source).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(source).unflatten(-1, (H, -1)).transpose(-3, -2)
    if mask is not None and mask.dim() > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))


# %% [wrong] one_wide_head | The projections are not split into heads: one attention over the whole width.
def fused_forward(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context
    q, k, v = layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)
    return layer.W_O(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))


# %% [wrong] heads_not_swapped_back | Heads and tokens are not swapped back before the heads are joined: the numbers of several tokens end up in one row.
def fused_forward(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context

    def heads_of(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    o = F.scaled_dot_product_attention(
        heads_of(layer.W_Q(tokens)), heads_of(layer.W_K(context)), heads_of(layer.W_V(context)), mask
    )
    return layer.W_O(o.reshape(*tokens.shape))


# %% [wrong] causal_by_default | Without a mask it attends causally; without a mask every token may look everywhere.
def fused_forward(layer, tokens, context=None, mask=None):
    context = tokens if context is None else context
    cut = (layer.num_heads, -1)
    q = layer.W_Q(tokens).unflatten(-1, cut).transpose(-3, -2)
    k = layer.W_K(context).unflatten(-1, cut).transpose(-3, -2)
    v = layer.W_V(context).unflatten(-1, cut).transpose(-3, -2)
    if mask is None:
        fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    else:
        fused = F.scaled_dot_product_attention(q, k, v, mask.unsqueeze(-3) if mask.ndim > 2 else mask)
    return layer.W_O(fused.transpose(-3, -2).flatten(-2))


# %% [right] stacked_heads | Stacks chunks of the projections as heads, gives every mask a head axis of its own, and lets a query that may attend nowhere come out as zero.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    seen = tokens if context is None else context
    q, k, v = (
        torch.stack(projected.chunk(layer.num_heads, dim=-1), dim=-3)
        for projected in (layer.W_Q(tokens), layer.W_K(seen), layer.W_V(seen))
    )
    if mask is None:
        brought = F.scaled_dot_product_attention(q, k, v)
    else:
        per_head = mask.unsqueeze(-3) if mask.ndim >= 2 else mask
        brought = F.scaled_dot_product_attention(q, k, v, attn_mask=per_head)
        brought = brought.masked_fill(~per_head.any(-1, keepdim=True), 0.0)
    return layer.W_O(torch.cat(brought.unbind(-3), dim=-1))
