# %% [wrong] values_from_tokens | the values are projected from the tokens, not from the context: self-attention is right, cross-attention mixes the wrong vectors or fails where T and S (or the widths) differ
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    H = layer.num_heads
    split = lambda x: x.unflatten(-1, (H, -1)).transpose(-3, -2)
    source = tokens if context is None else context
    q = split(layer.W_Q(tokens))
    k = split(layer.W_K(source))
    v = split(layer.W_V(tokens))
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))


# %% [wrong] heads_by_reshape | splits and joins heads by reshape alone, without exchanging the head axis and the position axis: (T, d_model) read as (H, T, d_head) puts pieces of several tokens into one head, so the output is scrambled
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    *lead, T, d_model = tokens.shape
    S = context.shape[-2]
    d_head = d_model // layer.num_heads
    query = layer.W_Q(tokens).reshape(*lead, layer.num_heads, T, d_head)
    key = layer.W_K(context).reshape(*lead, layer.num_heads, S, d_head)
    value = layer.W_V(context).reshape(*lead, layer.num_heads, S, d_head)
    if mask is not None and mask.ndim >= 3:
        mask = mask.unsqueeze(-3)
    fused = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(fused.reshape(*lead, T, d_model))


# %% [wrong] batch_mask_meets_heads | a mask with a batch (B, T, S) is handed on as it is: its batch axis is broadcast against the head axis, so it fails, or where B equals H masks each head by another scene
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    src = context if context is not None else tokens
    heads = []
    for project, x in zip((layer.W_Q, layer.W_K, layer.W_V), (tokens, src, src)):
        y = project(x)
        heads.append(y.view(*y.shape[:-1], layer.num_heads, -1).movedim(-2, -3))
    out = F.scaled_dot_product_attention(*heads, attn_mask=mask)
    out = out.movedim(-3, -2)
    return layer.W_O(out.reshape(*out.shape[:-2], -1))


# %% [wrong] every_mask_is_causal | any mask is replaced by is_causal=True: right for the causal mask only, other masks (padding, a band) are ignored and later words hidden that the mask allows
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens

    def to_heads(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3)

    seen = F.scaled_dot_product_attention(
        to_heads(layer.W_Q(tokens)),
        to_heads(layer.W_K(context)),
        to_heads(layer.W_V(context)),
        is_causal=mask is not None,
    )
    return layer.W_O(seen.transpose(-2, -3).flatten(start_dim=-2))


# %% [wrong] scaled_twice | divides the queries by sqrt(d_head), and scaled_dot_product_attention does so again: the scores are too small by sqrt(d_head) and the attention too even
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    n_heads = layer.num_heads
    q, k, v = layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)
    d_head = q.shape[-1] // n_heads
    q, k, v = [torch.stack(x.split(d_head, dim=-1), dim=-3) for x in (q, k, v)]
    q = q / d_head**0.5
    if mask is not None:
        mask = mask.unsqueeze(-3) if mask.dim() > 2 else mask
    z = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(torch.cat(z.unbind(-3), dim=-1))


# %% [right] heads_by_einsum | head slices of the weight matrices by einsum, W_O as a sum over the heads; the mask is expanded in full, and rows without any True are set to zero as in the layer
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    H = layer.num_heads
    per_head = [w.weight.unflatten(0, (H, -1)) for w in (layer.W_Q, layer.W_K, layer.W_V)]
    query, key, value = (
        torch.einsum("...nd,hkd->...hnk", x, w) for x, w in zip((tokens, context, context), per_head, strict=True)
    )
    if mask is not None:
        mask = mask.expand(*tokens.shape[:-1], context.shape[-2]).unsqueeze(-3)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    if mask is not None:
        out = torch.where(mask.any(-1, keepdim=True), out, torch.zeros_like(out))
    return torch.einsum("...hnk,dhk->...nd", out, layer.W_O.weight.unflatten(1, (H, -1)))
