# %% [wrong] causal_in_place_of_the_mask | Where a mask is given, is_causal=True is set and the mask itself is dropped; it should be handed on as attn_mask. Right for a causal mask alone; a padding mask hides other keys.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    query, key, value = (
        linear(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear, x in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    heads = F.scaled_dot_product_attention(query, key, value, is_causal=mask is not None)
    return layer.W_O(heads.transpose(-3, -2).flatten(-2))

# %% [wrong] scaled_by_the_whole_width | scale is set to d_model ** −0.5; the default, d_head ** −0.5, is right, because each head compares d_head numbers. Right with one head alone.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = tokens if context is None else context

    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    heads = F.scaled_dot_product_attention(
        split(layer.W_Q(tokens)), split(layer.W_K(source)), split(layer.W_V(source)), mask, scale=tokens.shape[-1] ** -0.5
    )
    return layer.W_O(heads.transpose(-3, -2).flatten(-2))

# %% [wrong] heads_look_at_heads | The heads are cut but not brought before the tokens, (..., n, H, d_head); the kernel attends over the last axis but one, so the heads of a token look at each other. It should be (..., H, n, d_head).
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    shape = (layer.num_heads, -1)
    query = layer.W_Q(tokens).unflatten(-1, shape)
    key = layer.W_K(context).unflatten(-1, shape)
    value = layer.W_V(context).unflatten(-1, shape)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    return layer.W_O(F.scaled_dot_product_attention(query, key, value, attn_mask=mask).flatten(-2))

# %% [wrong] dropout_in_evaluation | dropout_p is the layer's dropout in every mode; it should be 0 unless the layer is training. A layer with dropout gives random outputs after eval().
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    query, key, value = (
        x.unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)
        for x in (layer.W_Q(tokens), layer.W_K(context), layer.W_V(context))
    )
    lifted = mask if mask is None or mask.ndim < 3 else mask.unsqueeze(-3)
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=lifted, dropout_p=layer.dropout)
    return layer.W_O(heads.movedim(-3, -2).flatten(-2))

# %% [wrong] mask_as_floats | The mask is turned into floats, and the kernel adds floats to the scores: 1 where looking is allowed, 0 where it is not. It should stay bool. Nothing is hidden.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    query, key, value = (
        linear(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear, x in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    )
    if mask is not None:
        mask = mask.to(query.dtype)
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(heads.transpose(-3, -2).flatten(-2))

# %% [wrong] values_from_the_tokens | The values are projected from the tokens, the keys from the context; both should come from the context. Right for self-attention; with a context the shapes do not fit, or the words tell themselves.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    projected = layer.W_Q(tokens), layer.W_K(context), layer.W_V(tokens)
    heads = [torch.stack(x.chunk(layer.num_heads, -1), -3) for x in projected]
    fused = F.scaled_dot_product_attention(*heads, attn_mask=mask)
    return layer.W_O(torch.cat(fused.unbind(-3), -1))

# %% [right] stacked_chunks | Heads are made with chunk and stack, and joined with unbind and cat; a query that may look nowhere is set to zero before W_O.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = tokens if context is None else context
    projected = layer.W_Q(tokens), layer.W_K(source), layer.W_V(source)
    query, key, value = (torch.stack(x.chunk(layer.num_heads, dim=-1), dim=-3) for x in projected)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    dropped = getattr(layer, "dropout", 0.0) if layer.training else 0.0
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropped)
    if mask is not None:
        heads = heads.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return layer.W_O(torch.cat(heads.unbind(dim=-3), dim=-1))
