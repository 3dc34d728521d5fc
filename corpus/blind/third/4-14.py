# %% [wrong] mask_without_offset | tril() without P: new token t may only see the first t + 1 keys of the cache, and not itself.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    T, n = query.shape[-2], key.shape[-2]
    mask = torch.ones(T, n, dtype=torch.bool, device=tokens.device).tril()
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(output.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] causal_only_at_first | Masks only where there is no cache: several new tokens behind a cache see one another's future.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H = layer.num_heads
    query, key, value = (
        linear(tokens).unflatten(-1, (H, -1)).transpose(-3, -2) for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    first = cache is None
    if not first:
        key, value = (torch.cat([old, new], dim=-2) for old, new in zip(cache, (key, value)))
    seen = F.scaled_dot_product_attention(query, key, value, is_causal=first)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] new_before_old | Puts the new keys and values in front of the kept ones, while the mask counts on the old ones being in front.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def heads(linear):
        return torch.stack(linear(tokens).chunk(layer.num_heads, -1), dim=-3)

    query, key, value = heads(layer.W_Q), heads(layer.W_K), heads(layer.W_V)
    P = 0 if cache is None else cache[0].shape[-2]
    if P:
        key, value = torch.cat([key, cache[0]], -2), torch.cat([value, cache[1]], -2)
    T = tokens.shape[-2]
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    output, _ = masked_attention(query, key, value, mask)
    return layer.W_O(torch.cat(output.unbind(-3), dim=-1)), (key, value)

# %% [wrong] cache_of_the_new_alone | Returns the keys and values of the new tokens only; the cache does not grow.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    q, k, v = (f(tokens).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3) for f in (layer.W_Q, layer.W_K, layer.W_V))
    keys = k if cache is None else torch.cat((cache[0], k), dim=-2)
    values = v if cache is None else torch.cat((cache[1], v), dim=-2)
    T, n = q.shape[-2], keys.shape[-2]
    position = torch.arange(n, device=tokens.device)
    mask = position <= position[n - T :, None]
    out = masked_attention(q, keys, values, mask)[0]
    return layer.W_O(out.movedim(-3, -2).flatten(-2)), (k, v)

# %% [wrong] joined_on_the_head_axis | Concatenates along the axis of the heads (−3) in place of that of the tokens.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3)
    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    past = 0
    if cache is not None:
        past = cache[0].size(-2)
        key = torch.cat([cache[0], key], dim=-3)
        value = torch.cat([cache[1], value], dim=-3)
    T = tokens.size(-2)
    mask = torch.ones(T, past + T, dtype=torch.bool, device=tokens.device).tril(past)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.transpose(-2, -3).flatten(-2)), (key, value)

# %% [wrong] values_not_kept | The keys are joined with those of the cache, the values are not: the weights no longer fit the values.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    keys = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    values = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    P = 0
    if cache is not None:
        old_keys, old_values = cache
        P = old_keys.shape[-2]
        keys = torch.cat([old_keys, keys], dim=-2)
    mask = torch.ones(query.shape[-2], keys.shape[-2], dtype=torch.bool, device=tokens.device).tril(P)
    output, _ = masked_attention(query, keys, values, mask)
    return layer.W_O(output.transpose(-3, -2).flatten(-2)), (keys, values)

# %% [right] two_softmax_parts | Keeps old and new keys apart for the scores, joins the scores, and hides the future among the new ones with an additive triangle.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    T, H = tokens.shape[-2], layer.num_heads
    query, key, value = (part(tokens).unflatten(-1, (H, -1)).transpose(-3, -2) for part in (layer.W_Q, layer.W_K, layer.W_V))
    old_key, old_value = (key[..., :0, :], value[..., :0, :]) if cache is None else cache
    root = query.shape[-1] ** 0.5
    future = torch.full((T, T), -torch.inf, dtype=query.dtype, device=query.device).triu(1)
    scores = torch.cat([query @ old_key.mT / root, query @ key.mT / root + future], dim=-1)
    weights = scores.softmax(dim=-1)
    P = old_key.shape[-2]
    seen = weights[..., :P] @ old_value + weights[..., P:] @ value
    together = tuple(torch.cat(pair, dim=-2) for pair in ((old_key, key), (old_value, value)))
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), together
