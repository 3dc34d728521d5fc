# %% [wrong] is_causal_from_the_first_key | is_causal=True lays the triangle on from the upper left, so new token t sees only the keys 0 … t and not the P in the cache before it; the triangle must be moved by P.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    q, k, v = (
        W(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V)
    )
    if cache is not None:
        k = torch.cat([cache[0], k], dim=-2)
        v = torch.cat([cache[1], v], dim=-2)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (k, v)

# %% [wrong] no_mask_with_a_cache | The causal mask is only made for the first call; with a cache there is none, which is right for a single new token, but several new ones see each other's future.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def heads(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = heads(layer.W_Q(tokens)), heads(layer.W_K(tokens)), heads(layer.W_V(tokens))
    if cache is None:
        mask = causal_mask(tokens.shape[-2], tokens.device)
    else:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
        mask = None  # everything before is allowed
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(output.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] new_ones_in_front | The new keys and values are put in front of the kept ones; the order in the cache is then wrong, and the mask hides kept tokens and shows new ones.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H, T = layer.num_heads, tokens.shape[-2]
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    k = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    v = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    if cache is not None:
        k, v = torch.cat([k, cache[0]], dim=-2), torch.cat([v, cache[1]], dim=-2)
    P = k.shape[-2] - T
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (k, v)

# %% [wrong] cache_before_the_split | Keys and values are kept as (..., P + T, d_model), before they are split into heads; the cache should be (..., H, P + T, d_head), and one handed in in that form does not fit.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    keys, values = layer.W_K(tokens), layer.W_V(tokens)
    if cache is not None:
        keys = torch.cat([cache[0], keys], dim=-2)
        values = torch.cat([cache[1], values], dim=-2)

    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    T, n = tokens.shape[-2], keys.shape[-2]
    mask = torch.ones(T, n, dtype=torch.bool, device=tokens.device).tril(n - T)
    seen = F.scaled_dot_product_attention(split(layer.W_Q(tokens)), split(keys), split(values), attn_mask=mask)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (keys, values)

# %% [wrong] cat_along_axis_two | torch.cat runs along axis 2, which holds the tokens only with exactly one batch axis; without a batch, (H, P, d_head), it is the features, and the shapes do not fit. It should be −2.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    query, key, value = (
        project(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for project in (layer.W_Q, layer.W_K, layer.W_V)
    )
    past = 0
    if cache is not None:
        past = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=2)
        value = torch.cat([cache[1], value], dim=2)
    new = tokens.shape[-2]
    mask = torch.ones(new, past + new, dtype=torch.bool, device=tokens.device).tril(past)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] values_first | The cache is returned as (values, keys), but read as (keys, values); the first call is right, and from the second one on keys and values are exchanged.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    q, k, v = (
        W(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V)
    )
    if cache is not None:
        k_before, v_before = cache
        k = torch.cat([k_before, k], dim=-2)
        v = torch.cat([v_before, v], dim=-2)
    T, S = q.shape[-2], k.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool, device=q.device).tril(S - T)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (v, k)

# %% [right] places_compared | the mask compares the places of keys and new tokens, and an empty cache is a cache of length 0
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    query, *new = (
        project(tokens).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)
        for project in (layer.W_Q, layer.W_K, layer.W_V)
    )
    kept = cache if cache is not None else tuple(side[..., :0, :] for side in new)
    keys, values = (torch.cat(both, dim=-2) for both in zip(kept, new, strict=True))
    place = torch.arange(keys.shape[-2], device=keys.device)
    allowed = place <= place[kept[0].shape[-2] :].unsqueeze(-1)
    output, _ = masked_attention(query, keys, values, allowed)
    return layer.W_O(output.movedim(-3, -2).flatten(-2)), (keys, values)
