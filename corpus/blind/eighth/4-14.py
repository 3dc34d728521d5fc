# %% [wrong] triangle_without_an_offset | The mask is tril() without P, so new token t sees the keys 0…t of the cache; it should be tril(P), it may see P + t + 1 keys. With a cache the new token does not see itself.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=tokens.device).tril()
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(heads.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] scale_of_the_whole_width | The scores are divided by the root of d_model; each head compares d_head numbers, so it should be the root of d_head. The maps are too even, with and without a cache.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is not None:
        key, value = (torch.cat([old, new], -2) for old, new in zip(cache, (key, value)))
    T, n = query.shape[-2], key.shape[-2]
    later = torch.ones(T, n, dtype=torch.bool, device=tokens.device).triu(n - T + 1)
    scores = query @ key.transpose(-2, -1) / tokens.shape[-1] ** 0.5
    heads = scores.masked_fill(later, float("-inf")).softmax(-1) @ value
    return layer.W_O(heads.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] no_mask_behind_a_cache | With a cache no mask is set at all, as if then there were always one new token; there may be several. They see each other's future.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    if cache is None:
        heads = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    else:
        key, value = torch.cat([cache[0], key], -2), torch.cat([cache[1], value], -2)
        heads = F.scaled_dot_product_attention(query, key, value)  # one new word sees everything
    return layer.W_O(heads.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] the_new_ones_in_front | The new keys and values are put in front of the cache; they should stand behind it. The mask then hides the oldest words and not the later ones, as soon as there are several new tokens, and the cache is in the wrong order.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    past = 0
    if cache is not None:
        past = cache[0].shape[-2]
        key, value = torch.cat((key, cache[0]), dim=-2), torch.cat((value, cache[1]), dim=-2)
    T = tokens.shape[-2]
    mask = torch.ones(T, past + T, dtype=torch.bool, device=tokens.device).tril(past)
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(heads.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] words_on_axis_two | Old and new are joined along dim=2; it should be -2. Right with one batch axis; without one, axis 2 is the width of a head.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    if cache is not None:
        old_key, old_value = cache
        key, value = torch.cat([old_key, key], dim=2), torch.cat([old_value, value], dim=2)
    T, n = query.shape[-2], key.shape[-2]
    mask = torch.ones(T, n, dtype=torch.bool, device=tokens.device).tril(n - T)
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(heads.movedim(-3, -2).flatten(-2)), (key, value)

# %% [wrong] cache_of_the_new_tokens_alone | The cache that is returned holds the new keys and values alone; it should hold those of all P + T tokens. From the third call on the words before are forgotten.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    all_keys = key if cache is None else torch.cat([cache[0], key], dim=-2)
    all_values = value if cache is None else torch.cat([cache[1], value], dim=-2)
    T, n = key.shape[-2], all_keys.shape[-2]
    mask = torch.ones(T, n, dtype=torch.bool, device=tokens.device).tril(n - T)
    heads = F.scaled_dot_product_attention(query, all_keys, all_values, attn_mask=mask)
    return layer.W_O(heads.transpose(-3, -2).flatten(-2)), (key, value)

# %% [right] places_compared | The mask compares places: a new token at place p may see all keys up to p. An empty cache stands in at the start, so there is one way for all calls.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    query, *new = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    kept = tuple(one[..., :0, :] for one in new) if cache is None else cache
    keys, values = (torch.cat(pair, dim=-2) for pair in zip(kept, new, strict=True))
    place = torch.arange(keys.shape[-2], device=tokens.device)
    own = place[keys.shape[-2] - tokens.shape[-2] :]
    scores = query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(place > own.unsqueeze(-1), float("-inf")).softmax(dim=-1)
    output = layer.W_O((weights @ values).transpose(-3, -2).flatten(-2))
    return output, (keys, values)
