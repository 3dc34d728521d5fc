# %% [wrong] mask_inverted | The mask is turned over with ~ as if the fused kernel used True for "may not attend", as nn.MultiheadAttention does. It means the same as ours, so every query looks exactly where it must not.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    H = layer.num_heads
    split = lambda x: x.unflatten(-1, (H, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context))
    if mask is not None:
        mask = ~mask
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))


# %% [wrong] batched_mask_without_head_axis | A mask (B, T, S) is handed on as it is, without an axis for the heads: B meets the axis of the heads. It raises where B is neither 1 nor H, and where B equals H each head silently gets the mask of another scene.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = tokens if context is None else context
    heads = []
    for linear, given in zip((layer.W_Q, layer.W_K, layer.W_V), (tokens, source, source)):
        x = linear(given)
        heads.append(x.reshape(*x.shape[:-1], layer.num_heads, x.shape[-1] // layer.num_heads).movedim(-2, -3))
    seen = F.scaled_dot_product_attention(*heads, attn_mask=mask)
    return layer.W_O(seen.movedim(-3, -2).flatten(-2, -1))


# %% [wrong] values_from_the_tokens | Keys come from the context, but the values are made of the tokens. With a context of another length it raises, with one of the same length the words bring back themselves and nothing of the context.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context

    def heads(x):
        return torch.stack(x.chunk(layer.num_heads, dim=-1), dim=-3)

    Q = heads(layer.W_Q(tokens))
    K = heads(layer.W_K(context))
    V = heads(layer.W_V(tokens))
    if mask is not None and mask.dim() >= 3:
        mask = mask.unsqueeze(-3)
    O = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    return layer.W_O(torch.cat(O.unbind(-3), dim=-1))


# %% [wrong] heads_by_view_without_transpose | Splits with a plain reshape to (..., H, n, d_head), without moving an axis. Each "head" then holds whole tokens of a stretch of the sequence, cut into pieces, and not a slice of the width of all tokens.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    *lead, T, D = tokens.shape
    S = context.shape[-2]
    H, dh = layer.num_heads, D // layer.num_heads
    q = layer.W_Q(tokens).reshape(*lead, H, T, dh)
    k = layer.W_K(context).reshape(*lead, H, S, dh)
    v = layer.W_V(context).reshape(*lead, H, S, dh)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.reshape(*lead, T, D))


# %% [wrong] output_projection_forgotten | The heads are joined and returned without W_O: what comes back is the concatenation of the heads, not what the layer puts out.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = context if context is not None else tokens
    q = layer.W_Q(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3)
    k = layer.W_K(context).unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3)
    v = layer.W_V(context).unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3)
    m = None
    if mask is not None:
        m = mask[..., None, :, :] if mask.ndim > 2 else mask
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=m)
    fused = fused.transpose(-2, -3)
    return fused.reshape(*fused.shape[:-2], -1)


# %% [right] four_dimensions_always | Flattens all lead axes into one batch and expands the mask to it, so that the kernel always gets four axes; rows that may look nowhere are put to zero at the end.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    lead, T, S, H = tokens.shape[:-2], tokens.shape[-2], context.shape[-2], layer.num_heads
    q = layer.W_Q(tokens).reshape(-1, T, H, layer.W_Q.out_features // H).permute(0, 2, 1, 3)
    k = layer.W_K(context).reshape(-1, S, H, layer.W_K.out_features // H).permute(0, 2, 1, 3)
    v = layer.W_V(context).reshape(-1, S, H, layer.W_V.out_features // H).permute(0, 2, 1, 3)
    if mask is None:
        out = F.scaled_dot_product_attention(q, k, v)
    else:
        allowed = mask.expand(*lead, T, S).reshape(-1, 1, T, S)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        out = torch.where(allowed.any(-1, keepdim=True), out, torch.zeros_like(out))
    return layer.W_O(out.permute(0, 2, 1, 3).reshape(*lead, T, -1))
