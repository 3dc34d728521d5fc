# %% [wrong] causal_whatever_the_mask | Whenever there is a mask, is_causal=True is handed on in its place; a padding mask is ignored, and a causal one laid over what should be seen whole.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    q, k, v = (
        x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for x in (layer.W_Q(tokens), layer.W_K(context), layer.W_V(context))
    )
    out = F.scaled_dot_product_attention(q, k, v, is_causal=mask is not None)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] root_of_d_model | scale is set to 1/√d_model, but each head compares vectors of d_head numbers; the default, 1/√d_head, is right, and the maps come out too even.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context

    def heads(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(
        heads(layer.W_Q(tokens)),
        heads(layer.W_K(context)),
        heads(layer.W_V(context)),
        attn_mask=mask,
        scale=tokens.shape[-1] ** -0.5,
    )
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] dropout_in_evaluation | dropout_p=layer.dropout is handed on in evaluation mode as well; the function of PyTorch does not know the mode, so a layer with dropout answers at random. It should be 0 unless layer.training.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = tokens if context is None else context
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(source).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(source).unflatten(-1, (H, -1)).transpose(-3, -2)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=layer.dropout)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [wrong] joined_without_a_swap | The heads are reshaped to the shape of the tokens without swapping heads and tokens first, so the rows hold numbers of other tokens.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    q, k, v = layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)
    q, k, v = (x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for x in (q, k, v))
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.reshape(tokens.shape))

# %% [wrong] mask_as_floats | The mask becomes floats, and then F.scaled_dot_product_attention adds it to the scores: allowed keys get 1 more, and nothing is hidden. It must stay bool.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    query, key, value = (
        each.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for each in (layer.W_Q(tokens), layer.W_K(context), layer.W_V(context))
    )
    if mask is not None:
        mask = mask.to(query.dtype)
        mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
    fused = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(fused.transpose(-3, -2).flatten(-2))

# %% [wrong] values_of_the_tokens | The values are made from the tokens and not from the context; with a context of another length or width it fails, else it reads the wrong contents.
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(context)), split(layer.W_V(tokens))
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2))

# %% [right] nowhere_looks_anywhere | a query without any key may look anywhere, so that nothing is NaN, and its heads are set to zero afterwards
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    source = tokens if context is None else context
    projected = (layer.W_Q(tokens), layer.W_K(source), layer.W_V(source))
    query, key, value = (x.unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3) for x in projected)
    dropout = layer.dropout if layer.training else 0.0
    if mask is None:
        heads = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout)
    else:
        mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
        nowhere = ~mask.any(-1, keepdim=True)
        heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask | nowhere, dropout_p=dropout)
        heads = heads.masked_fill(nowhere, 0.0)
    return layer.W_O(heads.movedim(-3, -2).flatten(-2))
