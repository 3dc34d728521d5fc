# %% [wrong] triangle_not_moved | The triangle begins at the first key of the cache: new token t sees t + 1 keys in place of P + t + 1.
def attend_with_cache(layer, tokens, cache=None):
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is not None:
        k = torch.cat([cache[0], k], dim=-2)
        v = torch.cat([cache[1], v], dim=-2)
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=tokens.device).tril()
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (k, v)


# %% [wrong] no_mask_with_a_cache | With a cache there is no mask at all: right for one new token, but several new ones see each other's future.
def attend_with_cache(layer, tokens, cache=None):
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    if cache is None:
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    else:
        k, v = torch.cat([cache[0], k], -2), torch.cat([cache[1], v], -2)
        heads = F.scaled_dot_product_attention(q, k, v)
    return layer.W_O(heads.transpose(-3, -2).flatten(-2)), (k, v)


# %% [wrong] forgets_the_past | Returns the keys and values of the new tokens alone: at the next call all earlier words are lost.
def attend_with_cache(layer, tokens, cache=None):
    def heads(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = heads(layer.W_Q(tokens)), heads(layer.W_K(tokens)), heads(layer.W_V(tokens))
    new_cache = (key, value)
    P = 0
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    T = tokens.shape[-2]
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), new_cache


# %% [wrong] new_before_old | The new keys and values are put in front of the kept ones: the order of the words is lost, and the mask fits no longer.
def attend_with_cache(layer, tokens, cache=None):
    q, k, v = (
        W(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V)
    )
    P = 0 if cache is None else cache[0].size(-2)
    if cache is not None:
        k, v = torch.cat([k, cache[0]], dim=-2), torch.cat([v, cache[1]], dim=-2)
    T = q.size(-2)
    allowed = torch.ones(T, P + T, dtype=torch.bool, device=q.device).tril(P)
    o = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return layer.W_O(o.transpose(-3, -2).flatten(-2)), (k, v)


# %% [wrong] one_key_short | The triangle is moved by P − 1: a new token sees what was before it, and not itself.
def attend_with_cache(layer, tokens, cache=None):
    cut = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    q, k, v = cut(layer.W_Q(tokens)), cut(layer.W_K(tokens)), cut(layer.W_V(tokens))
    past = 0
    if cache is not None:
        past = cache[0].shape[-2]
        k = torch.cat([cache[0], k], dim=-2)
        v = torch.cat([cache[1], v], dim=-2)
    i = torch.arange(tokens.shape[-2], device=tokens.device).unsqueeze(1)
    j = torch.arange(k.shape[-2], device=tokens.device)
    mask = j < past + i
    if past == 0:
        mask = j <= i
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (k, v)


# %% [wrong] cached_before_the_split | The cache holds keys and values before the split into heads, (..., P, d_model); asked for are those after it.
def attend_with_cache(layer, tokens, cache=None):
    key, value = layer.W_K(tokens), layer.W_V(tokens)
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    T, N = tokens.shape[-2], key.shape[-2]
    heads = [x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for x in (layer.W_Q(tokens), key, value)]
    mask = torch.ones(T, N, dtype=torch.bool, device=tokens.device).tril(N - T)
    out = F.scaled_dot_product_attention(*heads, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)


# %% [right] token_by_token | Takes the new tokens one after the other; each is put into the cache and then looks at all that is in it, so no mask is needed.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H, outputs = layer.num_heads, []
    keys, values = cache if cache is not None else (None, None)
    for token in tokens.split(1, dim=-2):
        query, key, value = (W(token).unflatten(-1, (H, -1)).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V))
        keys = key if keys is None else torch.cat([keys, key], dim=-2)
        values = value if values is None else torch.cat([values, value], dim=-2)
        weights = (query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5).softmax(dim=-1)
        outputs.append(layer.W_O((weights @ values).transpose(-3, -2).flatten(-2)))
    return torch.cat(outputs, dim=-2), (keys, values)
