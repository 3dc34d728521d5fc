# %% [right] einsum_projections | right
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    H = layer.num_heads

    def heads(linear, x):
        weight = linear.weight.unflatten(0, (H, -1))
        return torch.einsum("...nc,hdc->...hnd", x, weight)

    if mask is not None and mask.ndim > 2:
        mask = mask[..., None, :, :]
    seen = F.scaled_dot_product_attention(
        heads(layer.W_Q, tokens), heads(layer.W_K, context), heads(layer.W_V, context), attn_mask=mask
    )
    if mask is not None:
        seen = seen.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return torch.einsum("...hnd,ohd->...no", seen, layer.W_O.weight.unflatten(1, (H, -1)))

# %% [wrong] mask_inverted | The mask is negated as for PyTorch's MultiheadAttention, but here True means may attend.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context))
    if mask is not None:
        mask = ~(mask if mask.ndim <= 2 else mask.unsqueeze(-3))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] heads_by_reshape | The heads are split by reshaping (n, d_model) to (H, n, d_head) without a transpose.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    H = layer.num_heads
    def split(x):
        return x.reshape(*x.shape[:-2], H, x.shape[-2], x.shape[-1] // H)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context))
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.reshape(tokens.shape[:-1] + (-1,)))

# %% [wrong] joined_without_transpose | The heads are joined by reshape without moving the head axis back behind the positions.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context))
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.reshape(*tokens.shape[:-1], -1))

# %% [wrong] scaled_twice | The query is divided by the root of d_head before the fused kernel, which scales by itself.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context))
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q / q.shape[-1] ** 0.5, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] no_output_projection | The joined heads are returned without W_O.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context))
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out.transpose(-3, -2).flatten(-2)

# %% [wrong] context_ignored | Keys and values are made from the tokens even when a context is given.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] mask_without_head_axis | A mask with a batch axis gets no head axis, so its batch is read as heads (or does not fit).
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] causal_instead_of_mask | It passes is_causal=True whenever there is a mask, instead of the mask itself.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=mask is not None)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))
