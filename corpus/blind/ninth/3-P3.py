# %% [wrong] batch_mask_without_head_axis | The mask is handed on as it is. A mask with a batch (B, T, S) needs an axis for the heads. Its batch axis is laid on the heads: an error, or with as many scenes as heads a silent mix-up.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(source).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(source).unflatten(-1, (H, -1)).transpose(-3, -2)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] context_or_tokens | The default is written `context or tokens`. A tensor has no single truth value, so it should be a test for None. With a context an error comes out: the truth value is ambiguous.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = context or tokens

    def heads(x):
        return x.unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)

    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    seen = F.scaled_dot_product_attention(
        heads(layer.W_Q(tokens)), heads(layer.W_K(context)), heads(layer.W_V(context)), attn_mask=mask
    )
    return layer.W_O(seen.movedim(-3, -2).flatten(-2))

# %% [wrong] drops_out_in_evaluation | dropout_p is the layer's dropout, whether it trains or not. F.scaled_dot_product_attention does not know the mode, so it should be 0 in evaluation. A layer with dropout gives another output at each call.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    split = lambda x: torch.stack(x.chunk(layer.num_heads, -1), -3)
    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(context))
    allowed = None if mask is None else (mask if mask.dim() <= 2 else mask.unsqueeze(-3))
    out = F.scaled_dot_product_attention(query, key, value, allowed, dropout_p=layer.dropout)
    return layer.W_O(torch.cat(out.unbind(-3), -1))

# %% [wrong] any_mask_is_taken_for_causal | Where there is a mask, is_causal=True is set, and the mask itself is not used. The mask may be any mask. It is right by luck for the causal one, and wrong for all others.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    kv = context if context is not None else tokens
    q, k, v = (
        proj(x).unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3)
        for proj, x in [(layer.W_Q, tokens), (layer.W_K, kv), (layer.W_V, kv)]
    )
    y = F.scaled_dot_product_attention(q, k, v, is_causal=mask is not None)
    return layer.W_O(y.transpose(-2, -3).reshape(*tokens.shape[:-1], -1))

# %% [wrong] scaled_by_the_whole_width | scale is set to one over the root of d_model. Each head compares vectors of d_model / H numbers, and that width should be under the root. With more than one head the maps are too even.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    d_model = tokens.shape[-1]

    def split(x):
        return x.reshape(*x.shape[:-1], layer.num_heads, d_model // layer.num_heads).transpose(-3, -2)

    if mask is not None:
        mask = mask.unsqueeze(-3) if mask.dim() > 2 else mask
    out = F.scaled_dot_product_attention(
        split(layer.W_Q(tokens)),
        split(layer.W_K(context)),
        split(layer.W_V(context)),
        attn_mask=mask,
        scale=d_model**-0.5,
    )
    return layer.W_O(out.transpose(-3, -2).reshape(tokens.shape))

# %% [wrong] joined_without_swapping_back | The heads are joined by a reshape to the shape of the tokens. The axes should be swapped back before that. Numbers of several words stand in one vector.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(context).unflatten(-1, (H, -1)).transpose(-3, -2)
    if mask is not None and mask.ndim >= 3:
        mask = mask[..., None, :, :]
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.reshape(*tokens.shape[:-1], -1))

# %% [right] flat_batch_and_additive_mask | Works on a flat batch, makes the bool mask additive, and puts zeros where a query may look nowhere.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = context if torch.is_tensor(context) else tokens
    lead, T, S = tokens.shape[:-2], tokens.shape[-2], source.shape[-2]

    def split(numbers, length):
        return numbers.reshape(-1, length, layer.num_heads, numbers.shape[-1] // layer.num_heads).permute(0, 2, 1, 3)

    bias = nowhere = None
    if mask is not None:
        full = mask.expand(*lead, T, S).reshape(-1, 1, T, S)
        nowhere = ~full.any(-1, keepdim=True)
        bias = torch.zeros(full.shape, dtype=tokens.dtype, device=tokens.device)
        bias = bias.masked_fill(~(full | nowhere), float("-inf"))
    seen = F.scaled_dot_product_attention(
        split(layer.W_Q(tokens), T),
        split(layer.W_K(source), S),
        split(layer.W_V(source), S),
        attn_mask=bias,
        dropout_p=layer.dropout if layer.training else 0.0,
    )
    if nowhere is not None:
        seen = seen.masked_fill(nowhere, 0.0)
    return layer.W_O(seen.permute(0, 2, 1, 3).reshape(*lead, T, -1))
