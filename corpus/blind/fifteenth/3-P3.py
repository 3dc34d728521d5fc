# %% [wrong] heads_joined_without_moving_back | The fused output (..., H, T, d_head) is reshaped to (..., T, d_model) at once, which mixes tokens and heads. The axis of the heads has to go back behind that of the tokens first.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context

    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    seen = F.scaled_dot_product_attention(
        split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context)), attn_mask=mask
    )
    return layer.W_O(seen.reshape(tokens.shape[:-1] + (-1,)))


# %% [wrong] any_mask_taken_for_causal | Whatever mask is given, the kernel is told to be causal. The mask itself must be handed on as attn_mask: it may hide padding, or anything else.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).movedim(-2, -3)
    key = layer.W_K(context).unflatten(-1, (H, -1)).movedim(-2, -3)
    value = layer.W_V(context).unflatten(-1, (H, -1)).movedim(-2, -3)
    heads = F.scaled_dot_product_attention(query, key, value, is_causal=mask is not None)
    return layer.W_O(heads.movedim(-3, -2).flatten(-2))
