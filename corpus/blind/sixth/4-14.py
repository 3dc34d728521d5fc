# %% [wrong] triangle_not_shifted | The triangle is tril() instead of tril(P): new token t sees the first t + 1 keys of the cache, and neither itself nor the later ones
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    q, k, v = (lin(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
               for lin in (layer.W_Q, layer.W_K, layer.W_V))
    if cache is not None:
        k, v = torch.cat([cache[0], k], dim=-2), torch.cat([cache[1], v], dim=-2)
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=tokens.device).tril()
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (k, v)

# %% [wrong] prompt_sees_itself_whole | There is no mask at all: right for one new token, but in a prompt of several each token sees the later ones
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is not None:
        key = torch.cat((cache[0], key), -2)
        value = torch.cat((cache[1], value), -2)
    heads = F.scaled_dot_product_attention(query, key, value)   # the cache holds only the past
    return layer.W_O(heads.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] old_ones_forgotten | The returned cache holds the keys and values of the new tokens alone, T instead of P + T, so after the second word everything before is lost
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).movedim(-2, -3)
    new = tuple(f(tokens).unflatten(-1, (H, -1)).movedim(-2, -3) for f in (layer.W_K, layer.W_V))
    k, v = new if cache is None else (torch.cat(pair, dim=-2) for pair in zip(cache, new))
    T, n = q.shape[-2], k.shape[-2]
    mask = torch.ones(T, n, dtype=torch.bool, device=q.device).tril(n - T)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.movedim(-3, -2).flatten(-2)), new

# %% [wrong] new_before_old | The new keys and values are put in front of the cached ones, so tril(P) hides the wrong ones and the cache is in the wrong order
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    q, k, v = (lin(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
               for lin in (layer.W_Q, layer.W_K, layer.W_V))
    past = 0
    if cache is not None:
        past = cache[0].shape[-2]
        k = torch.cat([k, cache[0]], dim=-2)
        v = torch.cat([v, cache[1]], dim=-2)
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril(past)
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(mixed.transpose(-3, -2).flatten(-2)), (k, v)

# %% [wrong] joined_on_axis_1 | torch.cat runs along dim=1, which in (B, H, P, d_head) is the heads: the second call raises an error where P ≠ T, or doubles the heads; it should be dim=-2
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    query = layer.W_Q(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=1), torch.cat([cache[1], value], dim=1)
    T, total = query.shape[-2], key.shape[-2]
    allowed = torch.ones(T, total, dtype=torch.bool, device=tokens.device).tril(total - T)
    seen = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] not_itself | The mask is tril(P − 1): new token t sees P + t keys, all before it but not itself; the first token of a prompt may look nowhere
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    q, k, v = [w(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
               for w in (layer.W_Q, layer.W_K, layer.W_V)]
    P = 0 if cache is None else cache[0].size(-2)
    if P:
        k = torch.cat([cache[0], k], dim=-2)
        v = torch.cat([cache[1], v], dim=-2)
    mask = torch.ones(q.size(-2), P + q.size(-2), dtype=torch.bool, device=q.device).tril(P - 1)
    out, _ = masked_attention(q, k, v, mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (k, v)

# %% [right] positions_compared | an empty cache stands for none, and the mask compares the places of queries and keys
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    query, key, value = (
        torch.stack(linear(tokens).chunk(layer.num_heads, dim=-1), dim=-3)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    if cache is None:
        cache = key[..., :0, :], value[..., :0, :]
    before = cache[0].shape[-2]
    keys, values = (torch.cat([old, new], dim=-2) for old, new in zip(cache, (key, value)))
    place = torch.arange(keys.shape[-2], device=tokens.device)
    allowed = place <= place[before:].unsqueeze(-1)  # (T, P + T)
    heads = F.scaled_dot_product_attention(query, keys, values, attn_mask=allowed)
    return layer.W_O(torch.cat(heads.unbind(dim=-3), dim=-1)), (keys, values)
