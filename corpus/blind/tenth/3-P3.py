# %% [wrong] mask_inverted_as_in_multihead_attention | The mask is turned around, as torch.nn.MultiheadAttention wants it. In scaled_dot_product_attention True already means "may attend", so each query sees what it may not see.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-2, -3)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-2, -3)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-2, -3)
    if mask is not None:
        mask = ~mask
        if mask.dim() > 2:
            mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-2, -3).flatten(-2))

# %% [wrong] batch_mask_without_a_head_axis | A mask with a batch goes in without an axis for the heads. (B, T, S) is then read as (heads, T, S): it crashes, or, where B equals the number of heads, each head gets the mask of another scene.
def fused_forward(layer, tokens, context=None, mask=None):
    if context is None:
        context = tokens
    def heads(x):
        return x.view(*x.shape[:-1], layer.num_heads, x.shape[-1] // layer.num_heads).transpose(-3, -2)
    out = F.scaled_dot_product_attention(heads(layer.W_Q(tokens)), heads(layer.W_K(context)), heads(layer.W_V(context)), attn_mask=mask)
    out = out.transpose(-3, -2)
    return layer.W_O(out.reshape(*out.shape[:-2], -1))

# %% [wrong] heads_joined_without_moving_the_axis | The heads are joined by a reshape without moving the head axis behind the positions first. The shape is right, but numbers of other positions are mixed into each token.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = tokens if context is None else context
    h, d_head = layer.num_heads, tokens.shape[-1] // layer.num_heads
    q, k, v = (
        proj(x).reshape(*x.shape[:-1], h, d_head).movedim(-2, -3)
        for proj, x in ((layer.W_Q, tokens), (layer.W_K, source), (layer.W_V, source))
    )
    attn_mask = None if mask is None else mask.broadcast_to(*tokens.shape[:-1], source.shape[-2]).unsqueeze(-3)
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)
    return layer.W_O(fused.reshape(*tokens.shape[:-1], h * d_head))

# %% [wrong] context_for_the_keys_only | The values are projected from the tokens also when a context is given. Keys and values both come from the context; where both have the same length the result is wrong, otherwise it crashes.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    ctx = context if context is not None else tokens
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    Q, K, V = split(layer.W_Q(tokens)), split(layer.W_K(ctx)), split(layer.W_V(tokens))
    if mask is not None and mask.ndim >= 3:
        mask = mask.unsqueeze(-3)
    O = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    return layer.W_O(O.transpose(-3, -2).flatten(-2))

# %% [wrong] causal_whenever_there_is_a_mask | Where a mask is given, is_causal=True is used in its place. This agrees with the layer for a causal mask alone; a padding mask or any other is ignored.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    parts = []
    for linear, x in [(layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context)]:
        y = linear(x)
        parts.append(torch.stack(y.chunk(layer.num_heads, dim=-1), dim=-3))
    q, k, v = parts
    out = F.scaled_dot_product_attention(q, k, v, is_causal=mask is not None)
    return layer.W_O(torch.cat(out.unbind(-3), dim=-1))

# %% [right] head_by_head_through_the_kernel | A loop sends each head's slice through the kernel alone and joins them by cat; so the mask needs no head axis. Queries that may look nowhere get zero, as in the layer, and the layer's dropout holds in training.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    read = tokens if context is None else context
    chance = getattr(layer, "dropout", 0.0) if layer.training else 0.0
    lost = None
    if mask is not None:
        mask = torch.broadcast_to(mask, (*tokens.shape[:-1], read.shape[-2]))
        lost = mask.logical_not().all(-1, keepdim=True)
        mask = mask.logical_or(lost)
    outputs = []
    for q, k, v in zip(
        layer.W_Q(tokens).chunk(layer.num_heads, -1),
        layer.W_K(read).chunk(layer.num_heads, -1),
        layer.W_V(read).chunk(layer.num_heads, -1),
    ):
        one = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=chance)
        outputs.append(one if lost is None else one.masked_fill(lost, 0.0))
    return layer.W_O(torch.cat(outputs, -1))
