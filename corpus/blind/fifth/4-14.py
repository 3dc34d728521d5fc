# %% [wrong] triangle_not_moved | the mask is tril() without the offset P: a single new token sees only the first of the cached keys and never itself; it should be tril(P)
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    q, k, v = (
        w(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for w in (layer.W_Q, layer.W_K, layer.W_V)
    )
    if cache is not None:
        k, v = torch.cat([cache[0], k], dim=-2), torch.cat([cache[1], v], dim=-2)
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=tokens.device).tril()
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (k, v)

# %% [wrong] new_tokens_see_all | no mask at all: with several new tokens the earlier ones see the later ones; right only for a single new token
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H = layer.num_heads
    split = lambda x: x.unflatten(-1, (H, -1)).transpose(-3, -2)
    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is not None:
        key = torch.cat([cache[0], key], -2)
        value = torch.cat([cache[1], value], -2)
    out = F.scaled_dot_product_attention(query, key, value)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] new_in_front | the new keys and values are put in front of the cached ones, so the cache comes back in the wrong order; and with several new tokens the mask lets the first ones see the later ones and hides the end of the past
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    q, k, v = [
        f(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for f in (layer.W_Q, layer.W_K, layer.W_V)
    ]
    past = 0
    if cache is not None:
        past = cache[0].shape[-2]
        k = torch.cat([k, cache[0]], dim=-2)
        v = torch.cat([v, cache[1]], dim=-2)
    T = tokens.shape[-2]
    mask = torch.ones(T, past + T, dtype=torch.bool, device=tokens.device).tril(past)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(y.transpose(-3, -2).flatten(-2)), (k, v)

# %% [wrong] cache_of_the_new_alone | the cache that is returned holds the new keys and values alone, so at the next call all that was before is forgotten
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    q, new_k, new_v = (
        w(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for w in (layer.W_Q, layer.W_K, layer.W_V)
    )
    k = new_k if cache is None else torch.cat((cache[0], new_k), -2)
    v = new_v if cache is None else torch.cat((cache[1], new_v), -2)
    T, n = q.shape[-2], k.shape[-2]
    allowed = torch.ones(T, n, dtype=torch.bool, device=q.device).tril(n - T)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (new_k, new_v)

# %% [wrong] is_causal_of_the_kernel | is_causal=True aligns the triangle at the top left: with a cache a single new token sees only key 0; the triangle should be aligned at the lower right
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    shape = (layer.num_heads, -1)
    query = layer.W_Q(tokens).unflatten(-1, shape).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, shape).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, shape).transpose(-3, -2)
    if cache:
        key, value = torch.cat([cache[0], key], -2), torch.cat([cache[1], value], -2)
    mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    return layer.W_O(mixed.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] values_from_the_keys_cache | the cached keys (cache[0]) are put in front of the values as well; it should be cache[1], so the past is read by its labels
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    q, k, v = (
        w(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for w in (layer.W_Q, layer.W_K, layer.W_V)
    )
    P = 0
    if cache is not None:
        P = cache[0].shape[-2]
        k = torch.cat([cache[0], k], dim=-2)
        v = torch.cat([cache[0], v], dim=-2)
    T = q.shape[-2]
    mask = torch.ones(T, P + T, device=q.device).tril(P).bool()
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (k, v)

# %% [right] past_as_a_list | the parts of the past and the new one are joined in a loop over the two kinds, and the mask comes from comparing places
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def heads(linear):
        return linear(tokens).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)

    new = heads(layer.W_K), heads(layer.W_V)
    if cache is not None:
        new = tuple(torch.cat(pair, dim=-2) for pair in zip(cache, new, strict=True))
    everything = torch.arange(new[0].shape[-2], device=tokens.device)
    mine = everything[everything.numel() - tokens.shape[-2] :]
    allowed = everything <= mine.unsqueeze(-1)
    seen = F.scaled_dot_product_attention(heads(layer.W_Q), *new, attn_mask=allowed)
    return layer.W_O(seen.movedim(-3, -2).flatten(-2)), new
