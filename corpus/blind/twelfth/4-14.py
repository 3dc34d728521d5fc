# %% [wrong] mask_begins_top_left | is_causal=True lays the triangle against the first key: new token t sees keys 0 ... t, not 0 ... P + t; without a cache it is right, with one most of the past is hidden
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)


# %% [wrong] no_mask_with_a_cache | masks only where there is no cache, as if later calls always brought a single token: with T > 1 new tokens the earlier ones see the later ones
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H = layer.num_heads
    q, k, v = (f(tokens).unflatten(-1, (H, -1)).movedim(-2, -3) for f in (layer.W_Q, layer.W_K, layer.W_V))
    if cache:
        k, v = (torch.cat(pair, -2) for pair in zip(cache, (k, v)))
        mask = None
    else:
        mask = causal_mask(tokens.shape[-2], tokens.device)
    output, _ = masked_attention(q, k, v, mask)
    return layer.W_O(output.movedim(-3, -2).flatten(-2)), (k, v)


# %% [wrong] new_keys_in_front | joins the new keys in front of the kept ones, while the mask counts the past from the left: tokens see the wrong keys, and the cache is in the wrong order
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    T = tokens.shape[-2]
    heads = lambda x: torch.stack(x.chunk(layer.num_heads, dim=-1), dim=-3)
    query, key, value = heads(layer.W_Q(tokens)), heads(layer.W_K(tokens)), heads(layer.W_V(tokens))
    past = 0
    if cache is not None:
        past = cache[0].shape[-2]
        key = torch.cat([key, cache[0]], dim=-2)
        value = torch.cat([value, cache[1]], dim=-2)
    mask = torch.ones(T, past + T, dtype=torch.bool, device=tokens.device).tril(past)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(torch.cat(out.unbind(-3), dim=-1)), (key, value)


# %% [wrong] cache_of_new_tokens | attends to everything, but hands back the keys and values of the new tokens alone: from the third call on the older words are forgotten
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    *lead, T, d_model = tokens.shape
    d_head = d_model // layer.num_heads

    def project(linear):
        return linear(tokens).reshape(*lead, T, layer.num_heads, d_head).transpose(-3, -2)

    new = project(layer.W_K), project(layer.W_V)
    keys, values = new if cache is None else [torch.cat(both, dim=-2) for both in zip(cache, new)]
    P = keys.shape[-2] - T
    place = torch.arange(P + T, device=tokens.device)
    allowed = place[None, :] <= place[P:, None]
    output = F.scaled_dot_product_attention(project(layer.W_Q), keys, values, attn_mask=allowed)
    return layer.W_O(output.transpose(-3, -2).reshape(*lead, T, d_model)), new


# %% [wrong] itself_hidden | the diagonal of the mask is one too low (tril(P - 1)): a new token sees the P + t keys before it and not its own; the very first token sees nothing and becomes NaN
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    T = tokens.size(-2)
    q = layer.W_Q(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    k = layer.W_K(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    v = layer.W_V(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    if cache is None:
        cache = (k[..., :0, :], v[..., :0, :])
    k, v = torch.cat([cache[0], k], -2), torch.cat([cache[1], v], -2)
    P = cache[0].size(-2)
    scores = q @ k.transpose(-2, -1) / k.size(-1) ** 0.5
    future = ~torch.ones(T, P + T, dtype=torch.bool, device=q.device).tril(P - 1)
    weights = scores.masked_fill(future, float("-inf")).softmax(-1)
    return layer.W_O((weights @ v).transpose(-3, -2).flatten(-2)), (k, v)


# %% [right] token_by_token | one new token after the other without any mask: each is appended to the keys first, then looks at all that are there
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    heads = [
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3) for linear in (layer.W_Q, layer.W_K, layer.W_V)
    ]
    query, *new = heads
    kept = [x[..., :0, :] for x in new] if cache is None else list(cache)
    keys, values = (torch.cat(pair, dim=-2) for pair in zip(kept, new, strict=True))
    P = kept[0].shape[-2]
    rows = []
    for t in range(tokens.shape[-2]):
        near_keys, near_values = keys[..., : P + t + 1, :], values[..., : P + t + 1, :]
        scores = (near_keys @ query[..., t, :, None]).squeeze(-1) / query.shape[-1] ** 0.5
        rows.append((scores.softmax(-1).unsqueeze(-2) @ near_values).squeeze(-2))
    seen = torch.stack(rows, dim=-3).flatten(-2)  # (..., T, H · d_head)
    return layer.W_O(seen), (keys, values)
