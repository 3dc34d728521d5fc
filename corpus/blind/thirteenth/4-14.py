# %% [wrong] triangle_not_shifted | The mask is tril() without the shift by P: new token t sees the keys 0 … t, the oldest ones, instead of P + t + 1. With a single new token it sees only the very first key.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H = layer.num_heads
    q, k, v = (
        W(tokens).unflatten(-1, (H, -1)).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V)
    )
    if cache is not None:
        k, v = torch.cat([cache[0], k], dim=-2), torch.cat([cache[1], v], dim=-2)
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (k, v)


# %% [wrong] no_mask_with_a_cache | Masks the first call alone, "because later ones get a single token". If several new tokens come with a cache, the earlier of them see the later ones.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def heads(x):
        return x.reshape(*x.shape[:-1], layer.num_heads, -1).movedim(-2, -3)

    query, key, value = heads(layer.W_Q(tokens)), heads(layer.W_K(tokens)), heads(layer.W_V(tokens))
    T = tokens.shape[-2]
    if cache is None:
        output, _ = masked_attention(query, key, value, causal_mask(T, tokens.device))
    else:
        key = torch.cat((cache[0], key), -2)
        value = torch.cat((cache[1], value), -2)
        output, _ = masked_attention(query, key, value)
    return layer.W_O(output.movedim(-3, -2).flatten(-2)), (key, value)


# %% [wrong] new_keys_in_front | Puts the new keys and values in front of the kept ones, and shifts the mask for the usual order: the new token sees the wrong ones, and the cache stands in the wrong order.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H, T = layer.num_heads, tokens.shape[-2]
    split = lambda x: torch.stack(x.chunk(H, -1), -3)
    q, fresh = split(layer.W_Q(tokens)), [split(layer.W_K(tokens)), split(layer.W_V(tokens))]
    if cache is not None:
        fresh = [torch.cat([new, old], dim=-2) for new, old in zip(fresh, cache)]
    k, v = fresh
    P = k.shape[-2] - T
    allowed = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~allowed, -torch.inf)
    seen = scores.softmax(-1) @ v
    return layer.W_O(torch.cat(seen.unbind(-3), -1)), (k, v)


# %% [wrong] only_new_in_the_cache | Returns keys and values of the new tokens alone as the cache. The output of this call is right; the next one has lost everything before.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    project = lambda W: W(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3)
    query, key, value = map(project, (layer.W_Q, layer.W_K, layer.W_V))
    new_cache = (key, value)
    if cache is not None:
        keys = torch.cat([cache[0], key], dim=-2)
        values = torch.cat([cache[1], value], dim=-2)
    else:
        keys, values = key, value
    T, total = query.shape[-2], keys.shape[-2]
    row = torch.arange(total - T, total, device=tokens.device)[:, None]
    mask = torch.arange(total, device=tokens.device)[None, :] <= row
    out = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
    out = out.transpose(-2, -3).flatten(-2)
    return layer.W_O(out), new_cache


# %% [wrong] is_causal_flag | Uses is_causal=True with fewer queries than keys. PyTorch aligns that triangle at the upper left, so with a cache each new token sees only the first few old ones.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    *lead, T, d_model = tokens.shape
    H = layer.num_heads

    def to_heads(linear):
        return linear(tokens).view(*lead, T, H, d_model // H).transpose(-3, -2)

    q, k, v = to_heads(layer.W_Q), to_heads(layer.W_K), to_heads(layer.W_V)
    if cache:
        past_k, past_v = cache
        k = torch.cat([past_k, k], dim=-2)
        v = torch.cat([past_v, v], dim=-2)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return layer.W_O(out.transpose(-3, -2).reshape(*lead, T, d_model)), (k, v)


# %% [right] token_by_token | Each new token asks by itself, over a slice of keys that ends with its own place; so no mask is needed at all.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def heads(linear):
        return linear(tokens).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)

    query = heads(layer.W_Q)
    fresh = (heads(layer.W_K), heads(layer.W_V))
    kept = fresh if cache is None else tuple(torch.cat(pair, dim=-2) for pair in zip(cache, fresh, strict=True))
    keys, values = kept
    T = tokens.shape[-2]
    before = keys.shape[-2] - T
    answers = []
    for t in range(T):
        until = before + t + 1
        scores = query[..., t : t + 1, :] @ keys[..., :until, :].transpose(-1, -2) * query.shape[-1] ** -0.5
        answers.append(scores.softmax(-1) @ values[..., :until, :])
    seen = torch.cat(answers, dim=-2)
    return layer.W_O(seen.movedim(-3, -2).flatten(-2)), (keys, values)
