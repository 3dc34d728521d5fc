# %% [wrong] root_of_the_whole_width | The kernel is told to scale by the root of d_model; a head's scores are divided by the root of d_head, which is its default.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    q, k, v = (
        linear(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear, x in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=tokens.shape[-1] ** -0.5)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2))

# %% [wrong] causal_without_a_mask | is_causal is switched on where no mask is given, though without a mask all may see all.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = tokens if context is None else context

    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    heads = F.scaled_dot_product_attention(
        split(layer.W_Q(tokens)), split(layer.W_K(source)), split(layer.W_V(source)), attn_mask=mask, is_causal=mask is None
    )
    return layer.W_O(heads.transpose(-3, -2).flatten(-2))

# %% [wrong] joined_without_swapping_back | The heads' outputs are reshaped to the tokens' shape without swapping heads and tokens back, so numbers of different tokens stand in one row.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).movedim(-2, -3)
    key = layer.W_K(context).unflatten(-1, (H, -1)).movedim(-2, -3)
    value = layer.W_V(context).unflatten(-1, (H, -1)).movedim(-2, -3)
    if mask is not None and mask.dim() > 2:
        mask = mask.unsqueeze(-3)
    fused = F.scaled_dot_product_attention(query, key, value, mask)
    return layer.W_O(fused.reshape(tokens.shape))
