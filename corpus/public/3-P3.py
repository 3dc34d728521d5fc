# %% [right] view_sdpa_and_reassemble | split, F.scaled_dot_product_attention, contiguous view, rows without a key set to zero, after small GPT code with a flash branch
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    context = tokens if context is None else context
    n_head = layer.num_heads
    q, k, v = layer.W_Q(tokens), layer.W_K(context), layer.W_V(context)
    q = q.view(*q.shape[:-1], n_head, -1).transpose(-3, -2)
    k = k.view(*k.shape[:-1], n_head, -1).transpose(-3, -2)
    v = v.view(*v.shape[:-1], n_head, -1).transpose(-3, -2)
    if mask is not None:
        mask = mask.unsqueeze(-3)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.0, is_causal=False)
    if mask is not None:
        y = y.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    y = y.transpose(-3, -2).contiguous().view(*tokens.shape[:-1], -1)
    return layer.W_O(y)


# %% [right] nan_to_num_of_the_output | rows without a key by torch.nan_to_num of the fused output, after reports on NaN with fully masked rows (unsure: gradients through a hidden row)
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    src = tokens if context is None else context
    query, key, value = (
        proj(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for proj, x in ((layer.W_Q, tokens), (layer.W_K, src), (layer.W_V, src))
    )
    attn_mask = mask if mask is None or mask.dim() == 2 else mask.unsqueeze(-3)
    hidden = F.scaled_dot_product_attention(query, key, value, attn_mask)
    if mask is not None:
        nowhere = mask.logical_not().all(-1)
        hidden = torch.nan_to_num(hidden)
        hidden = torch.where(nowhere[..., None, :, None] if nowhere.dim() > 1 else nowhere[:, None], 0.0, hidden)
    return layer.W_O(hidden.transpose(-3, -2).flatten(-2))


# %% [right] additive_mask_for_the_kernel | the bool mask turned into an additive one of finfo.min, after mcrl/tt-metal (qwen3 reference, sdpa_attention_forward with attn_mask)
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    kv = context if context is not None else tokens
    shape = lambda x: x.reshape(*x.shape[:-1], layer.num_heads, -1).swapaxes(-2, -3)  # noqa: E731
    query_states, key_states, value_states = shape(layer.W_Q(tokens)), shape(layer.W_K(kv)), shape(layer.W_V(kv))
    attention_mask = None
    if mask is not None:
        attention_mask = torch.zeros_like(mask, dtype=query_states.dtype)
        attention_mask = attention_mask.masked_fill(~mask, torch.finfo(query_states.dtype).min).unsqueeze(-3)
    attn_output = torch.nn.functional.scaled_dot_product_attention(
        query_states, key_states, value_states, attn_mask=attention_mask
    )
    if mask is not None:
        attn_output = attn_output * mask.any(-1)[..., None, :, None].to(attn_output.dtype)
    return layer.W_O(attn_output.swapaxes(-2, -3).flatten(-2))


# %% [right] open_closed_rows_and_dropout | closed rows opened and zeroed, dropout_p from the layer while training, after karpathy/minGPT forks with sdpa (unsure: dropout while training)
def fused_forward(layer: nn.Module, tokens: Tensor, context: Tensor | None = None, mask: Tensor | None = None):
    if context is None:
        context = tokens
    heads = [
        torch.stack(linear(x).chunk(layer.num_heads, dim=-1), dim=-3)
        for linear, x in ((layer.W_Q, tokens), (layer.W_K, context), (layer.W_V, context))
    ]
    rate = layer.dropout if layer.training and isinstance(getattr(layer, "dropout", None), float) else 0.0
    closed = None
    if mask is not None:
        closed = ~mask.any(-1, keepdim=True)
        mask = (mask | closed).unsqueeze(-3)
        closed = closed.unsqueeze(-3)
    out = F.scaled_dot_product_attention(*heads, attn_mask=mask, dropout_p=rate)
    if closed is not None:
        out = out.masked_fill(closed, 0.0)
    return layer.W_O(torch.cat(out.unbind(-3), dim=-1))
