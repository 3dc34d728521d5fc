# %% [right] tril_with_offset_and_sdpa | cat along the key axis, ones.tril(P), F.scaled_dot_product_attention, after karpathy/nanochat (KVCache attention)
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    heads = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)  # noqa: E731
    q, k, v = heads(layer.W_Q(tokens)), heads(layer.W_K(tokens)), heads(layer.W_V(tokens))
    if cache is not None:
        k = torch.cat((cache[0], k), dim=-2)
        v = torch.cat((cache[1], v), dim=-2)
    Tq, Tk = q.size(-2), k.size(-2)
    attn_mask = torch.ones(Tq, Tk, dtype=torch.bool, device=q.device).tril(diagonal=Tk - Tq)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)
    return layer.W_O(y.transpose(-3, -2).flatten(-2)), (k, v)


# %% [right] llama_additive_mask_with_zeros_in_front | triu of -inf with zeros in front for the cached positions, softmax in float32, after facebookresearch/llama (Transformer.forward, hstack mask) (unsure: precision of float64 input)
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    seqlen = tokens.shape[-2]
    start_pos = 0 if cache is None else cache[0].shape[-2]
    shape = (*tokens.shape[:-1], layer.num_heads, -1)
    xq = layer.W_Q(tokens).view(shape).transpose(-3, -2)
    keys = layer.W_K(tokens).view(shape).transpose(-3, -2)
    values = layer.W_V(tokens).view(shape).transpose(-3, -2)
    if cache is not None:
        keys = torch.cat([cache[0], keys], dim=-2)
        values = torch.cat([cache[1], values], dim=-2)
    scores = torch.matmul(xq, keys.transpose(-2, -1)) / xq.shape[-1] ** 0.5
    if seqlen > 1:
        mask = torch.full((seqlen, seqlen), float("-inf"), device=tokens.device)
        mask = torch.triu(mask, diagonal=1)
        mask = torch.hstack([torch.zeros((seqlen, start_pos), device=tokens.device), mask]).type_as(tokens)
        scores = scores + mask
    scores = F.softmax(scores.float(), dim=-1).type_as(xq)
    output = torch.matmul(scores, values)
    output = output.transpose(-3, -2).contiguous().view(*tokens.shape[:-1], -1)
    return layer.W_O(output), (keys, values)


# %% [right] arange_comparison_manual_softmax | key position <= query position by arange, masked_fill, softmax, after sumitdotml/transformers (llama2 notes on past_key_value)
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    query_states, key_states, value_states = layer.W_Q(tokens), layer.W_K(tokens), layer.W_V(tokens)
    query_states, key_states, value_states = (
        s.reshape(*s.shape[:-1], layer.num_heads, -1).swapaxes(-3, -2)
        for s in (query_states, key_states, value_states)
    )
    past = 0
    if cache is not None:
        past = cache[0].shape[-2]
        key_states, value_states = (torch.cat([old, new], dim=-2) for old, new in zip(cache, (key_states, value_states)))
    cache_position = torch.arange(past, past + tokens.shape[-2], device=tokens.device)
    kv_position = torch.arange(key_states.shape[-2], device=tokens.device)
    causal = kv_position[None, :] <= cache_position[:, None]
    attn = torch.matmul(query_states, key_states.mT) * query_states.shape[-1] ** -0.5
    attn = attn.masked_fill(~causal, torch.finfo(attn.dtype).min).softmax(dim=-1)
    attn_output = torch.matmul(attn, value_states).swapaxes(-3, -2)
    return layer.W_O(attn_output.reshape(*tokens.shape[:-1], -1)), (key_states, value_states)


# %% [right] is_causal_only_without_cache | is_causal for a prompt, no mask for one token, a mask otherwise, after karpathy/nanochat (three cases)
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H = layer.num_heads
    q = torch.stack(layer.W_Q(tokens).chunk(H, -1), dim=-3)
    k = torch.stack(layer.W_K(tokens).chunk(H, -1), dim=-3)
    v = torch.stack(layer.W_V(tokens).chunk(H, -1), dim=-3)
    n_new = tokens.shape[-2]
    if cache is None:
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    else:
        n_past = cache[0].shape[-2]
        k, v = torch.cat([cache[0], k], -2), torch.cat([cache[1], v], -2)
        if n_new == 1:
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            seen = torch.ones(n_new, n_past, dtype=torch.bool, device=q.device)
            own = torch.tril(torch.ones(n_new, n_new, dtype=torch.bool, device=q.device))
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.cat([seen, own], dim=1))
    return layer.W_O(torch.cat(y.unbind(-3), dim=-1)), (k, v)


# %% [right] empty_cache_first_and_one_path | an empty cache of length 0 in place of None, one path for all, after gziz/LLMs-from-scratch (ch04 kv-cache)
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        b = x.shape[:-1]
        return x.view(*b, layer.num_heads, x.shape[-1] // layer.num_heads).movedim(-2, -3)

    queries, keys_new, values_new = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is None:
        cache = (keys_new[..., :0, :], values_new[..., :0, :])
    keys = torch.cat([cache[0], keys_new], dim=-2)
    values = torch.cat([cache[1], values_new], dim=-2)
    T, P = tokens.shape[-2], cache[0].shape[-2]
    attn_scores = torch.einsum("...td,...sd->...ts", queries, keys)
    future = torch.triu(torch.ones(T, P + T, device=tokens.device), diagonal=P + 1).bool()
    attn_scores = attn_scores.masked_fill(future, -torch.inf)
    attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
    context_vec = (attn_weights @ values).movedim(-3, -2).flatten(-2)
    return layer.W_O(context_vec), (keys, values)


# %% [right] joined_qkv_weights | one F.linear with joined weights for q, k, v, position ids compared, after karpathy/nanoGPT (c_attn) forks with a cache
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    weight = torch.cat([layer.W_Q.weight, layer.W_K.weight, layer.W_V.weight])
    q, k, v = (
        part.unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3) for part in F.linear(tokens, weight).chunk(3, dim=-1)
    )
    past_k, past_v = cache if cache is not None else (k[..., :0, :], v[..., :0, :])
    present = (torch.cat((past_k, k), dim=-2), torch.cat((past_v, v), dim=-2))
    rows = torch.arange(tokens.shape[-2], device=tokens.device).unsqueeze(-1) + past_k.shape[-2]
    cols = torch.arange(present[0].shape[-2], device=tokens.device)
    bias = torch.zeros(rows.shape[0], cols.shape[0], dtype=q.dtype, device=q.device)
    bias = bias.masked_fill(cols > rows, float("-inf"))
    out = F.scaled_dot_product_attention(q, *present, attn_mask=bias)
    return layer.W_O(out.transpose(-2, -3).contiguous().flatten(-2)), present


# %% [right] buffers_allocated_and_copied | a buffer for P + T keys allocated and filled by slices, after pytorch-labs/gpt-fast (KVCache.update)
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H, T = layer.num_heads, tokens.shape[-2]
    P = cache[0].shape[-2] if cache is not None else 0
    q = layer.W_Q(tokens).reshape(*tokens.shape[:-1], H, -1).movedim(-2, -3)
    shape = (*q.shape[:-2], P + T, q.shape[-1])
    buffers = []
    for index, proj in enumerate((layer.W_K, layer.W_V)):
        buffer = q.new_empty(shape)
        if P:
            buffer[..., :P, :] = cache[index]
        buffer[..., P:, :] = proj(tokens).reshape(*tokens.shape[:-1], H, -1).movedim(-2, -3)
        buffers.append(buffer)
    keys, values = buffers
    input_pos = torch.arange(P, P + T, device=tokens.device)
    mask = torch.tril(torch.ones(P + T, P + T, dtype=torch.bool, device=tokens.device))[input_pos]
    y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask, dropout_p=0.0)
    return layer.W_O(y.movedim(-3, -2).reshape(tokens.shape)), (keys, values)
