# %% [right] scores_by_hand | right
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H, T = layer.num_heads, tokens.shape[-2]
    query, key, value = (
        linear(tokens).reshape(*tokens.shape[:-1], H, -1).movedim(-2, -3) for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    if cache is not None:
        key, value = (torch.cat(pair, dim=-2) for pair in zip(cache, (key, value), strict=True))
    total = key.shape[-2]
    asks = torch.arange(total - T, total, device=tokens.device).unsqueeze(1)
    later = torch.arange(total, device=tokens.device) > asks
    scores = query @ key.mT / key.shape[-1] ** 0.5
    seen = scores.masked_fill(later, float("-inf")).softmax(-1) @ value
    return layer.W_O(seen.movedim(-3, -2).flatten(-2)), (key, value)

# %% [wrong] tril_without_offset | The causal mask begins at diagonal 0 instead of P, so new tokens do not see the end of the cache.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    P, T = 0, tokens.shape[-2]
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril()
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] no_mask | There is no mask, which is right only for one new token; a prompt sees its own later words.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    P, T = 0, tokens.shape[-2]
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    out = F.scaled_dot_product_attention(query, key, value)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] is_causal | is_causal=True is used, which aligns the triangle with the first key and not with the last one.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    P, T = 0, tokens.shape[-2]
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    out = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] new_before_old | The new keys and values are put in front of the kept ones.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    P, T = 0, tokens.shape[-2]
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([key, cache[0]], dim=-2)
        value = torch.cat([value, cache[1]], dim=-2)
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] cache_not_extended | The returned cache holds only the new keys and values, not all.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    new = (key, value)
    P, T = 0, tokens.shape[-2]
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), new

# %% [wrong] cache_before_split | The cache is kept before the split into heads, (..., P + T, d_model).
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H = layer.num_heads
    keys, values = layer.W_K(tokens), layer.W_V(tokens)
    if cache is not None:
        keys = torch.cat([cache[0], keys], dim=-2)
        values = torch.cat([cache[1], values], dim=-2)
    T, total = tokens.shape[-2], keys.shape[-2]
    query, key, value = (x.unflatten(-1, (H, -1)).transpose(-3, -2) for x in (layer.W_Q(tokens), keys, values))
    mask = torch.ones(T, total, dtype=torch.bool, device=tokens.device).tril(total - T)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (keys, values)

# %% [wrong] values_from_key_cache | The cached keys are put in front of the values as well (cache[0] twice).
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    P, T = 0, tokens.shape[-2]
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[0], value], dim=-2)
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] off_by_one_diagonal | With a cache, tril(P - 1) hides each new token from itself.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    P, T = 0, tokens.shape[-2]
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P - 1 if P else 0)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] no_w_o | The heads are joined but not sent through W_O.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    P, T = 0, tokens.shape[-2]
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return out.transpose(-3, -2).flatten(-2), (key, value)

# %% [wrong] joined_by_reshape | The heads are joined by reshape without the transpose.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    P, T = 0, tokens.shape[-2]
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.reshape(tokens.shape)), (key, value)
