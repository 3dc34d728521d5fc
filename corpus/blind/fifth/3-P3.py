# %% [wrong] batch_meets_heads | a mask with a batch, (B, T, S), is handed on without an axis for the heads: an error, or wrong in silence where B = H
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    q, k, v = (
        w(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for w, x in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] inverted_mask | the mask is turned round with ~, as for nn.MultiheadAttention; in F.scaled_dot_product_attention True means may attend, as here
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(source).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(source).unflatten(-1, (H, -1)).transpose(-3, -2)
    if mask is not None:
        mask = ~(mask.unsqueeze(-3) if mask.ndim > 2 else mask)
    o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(o.transpose(-3, -2).flatten(-2))

# %% [wrong] no_w_o | the heads are joined and returned without the output projection W_O
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    cut = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    mixed = F.scaled_dot_product_attention(
        cut(layer.W_Q(tokens)), cut(layer.W_K(context)), cut(layer.W_V(context)), attn_mask=mask
    )
    return mixed.transpose(-3, -2).flatten(-2)

# %% [wrong] causal_by_default | is_causal is set where no mask is given, so each token sees only those before it; without a mask all should be seen
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    q, k, v = [
        x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for x in (layer.W_Q(tokens), layer.W_K(context), layer.W_V(context))
    ]
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] one_big_head | the projections are not split into heads, so one head of width d_model attends with the root of d_model
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    other = tokens if context is None else context
    fused = F.scaled_dot_product_attention(layer.W_Q(tokens), layer.W_K(other), layer.W_V(other), attn_mask=mask)
    return layer.W_O(fused)

# %% [wrong] joined_without_swap | the heads are joined with a reshape of (..., H, T, d_head) without swapping heads and tokens back, so numbers of different tokens are mixed
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    heads = layer.num_heads
    query, key, value = layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)
    query, key, value = (x.unflatten(-1, (heads, -1)).movedim(-2, -3) for x in (query, key, value))
    mask = mask.unsqueeze(-3) if mask is not None and mask.ndim > 2 else mask
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.reshape(tokens.shape))

# %% [right] stacked_heads | the heads are made by chunking and stacking, joined with a movedim, and a query that may look nowhere is set to zero, as the layer does
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context

    def heads(projected):
        return torch.stack(projected.chunk(layer.num_heads, dim=-1), dim=-3)

    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    brought = F.scaled_dot_product_attention(
        heads(layer.W_Q(tokens)), heads(layer.W_K(context)), heads(layer.W_V(context)), attn_mask=mask
    )
    if mask is not None:
        brought = brought.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return layer.W_O(brought.movedim(-3, -2).flatten(-2))
