# %% [wrong] mask_negated | The mask is handed on as ~mask, though in F.scaled_dot_product_attention True means may attend too: words look exactly where they must not
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    q, k, v = (x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
               for x in (layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)))
    if mask is not None:
        mask = ~mask
        mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] no_axis_for_heads | A mask with a batch, (B, T, S), gets no axis for the heads (unsqueeze(-3)): its batch meets the heads
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    src = tokens if context is None else context
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)
    heads = F.scaled_dot_product_attention(split(layer.W_Q(tokens)), split(layer.W_K(src)), split(layer.W_V(src)), mask)
    return layer.W_O(heads.movedim(-3, -2).flatten(-2))

# %% [wrong] always_causal | is_causal=True is set when there is no mask, so without a mask each position sees only the earlier ones, where it should see all
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-2, -3)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-2, -3)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-2, -3)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
    return layer.W_O(o.transpose(-2, -3).flatten(-2))

# %% [wrong] heads_not_swapped_back | The heads are flattened without swapping heads and tokens back, so numbers of different tokens are mixed (reshape hides it)
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    q, k, v = [y.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
               for y in (layer.W_Q(tokens), layer.W_K(context), layer.W_V(context))]
    attn_mask = mask if mask is None or mask.ndim < 3 else mask[..., None, :, :]
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)
    return layer.W_O(out.reshape(tokens.shape))

# %% [wrong] scale_of_d_model | scale is set to 1/√d_model; the kernel's own default, 1/√d_head, is what the layer uses
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    memory = tokens if context is None else context
    q, k, v = (p.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
               for p in (layer.W_Q(tokens), layer.W_K(memory), layer.W_V(memory)))
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=tokens.shape[-1] ** -0.5)
    return layer.W_O(fused.transpose(-3, -2).flatten(-2))

# %% [wrong] keys_of_the_tokens | Keys and values are always made from the tokens; a context that is handed in is never read, so cross-attention becomes self-attention
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    H = layer.num_heads
    q, k, v = (W(tokens).unflatten(-1, (H, -1)).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V))
    m = mask.unsqueeze(-3) if mask is not None and mask.ndim > 2 else mask
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=m)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [right] nowhere_handled | heads by chunk and stack; a query that may attend nowhere is let look and then set to zero, as the layer does
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    query, key, value = (
        torch.stack(projected.chunk(layer.num_heads, dim=-1), dim=-3)
        for projected in (layer.W_Q(tokens), layer.W_K(context), layer.W_V(context))
    )
    nowhere = None
    if mask is not None:
        nowhere = ~mask.any(dim=-1, keepdim=True)  # (..., T, 1)
        mask = mask | nowhere
        mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    output = layer.W_O(torch.cat(heads.unbind(dim=-3), dim=-1))
    return output if nowhere is None else output.masked_fill(nowhere, 0.0)
