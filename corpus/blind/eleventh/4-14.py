# %% [wrong] causal_from_the_upper_corner | is_causal=True counts from the upper left corner: new token t may look at keys 0…t of the whole cache, not at P + t + 1 of them. The first call is right; with a cache the new token sees only the first word, and not even itself.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    out = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] mask_for_the_prompt_alone | Only the call without a cache gets a mask; later ones look at everything. With a single new token that is right, but where several new tokens come at once, the earlier ones see the later ones.
def attend_with_cache(layer, tokens, cache=None):
    H = layer.num_heads
    q, k, v = (W(tokens).unflatten(-1, (H, -1)).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V))
    if cache is None:
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    else:
        k = torch.cat([cache[0], k], dim=-2)
        v = torch.cat([cache[1], v], dim=-2)
        seen = F.scaled_dot_product_attention(q, k, v)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (k, v)

# %% [wrong] new_keys_in_front | New keys and values are put in front of the kept ones. The mask counts from the oldest, so a new token may see the wrong keys when several come at once, and the cache that comes back is not in the order of the text.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    heads = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (heads, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (heads, -1)).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, (heads, -1)).transpose(-3, -2)
    if cache is not None:
        old_key, old_value = cache
        key = torch.cat([key, old_key], dim=-2)
        value = torch.cat([value, old_value], dim=-2)
    T, N = query.shape[-2], key.shape[-2]
    mask = torch.ones(T, N, dtype=torch.bool, device=tokens.device).tril(N - T)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] kept_before_the_split | Keys and values are kept as they come from the projections, (..., P + T, d_model), and split into heads anew in each call. Its own caches fit together, but the text wants them after the split, and a cache (..., H, P, d_head) that is handed in makes torch.cat stop.
def attend_with_cache(layer, tokens, cache=None):
    q, k, v = layer.W_Q(tokens), layer.W_K(tokens), layer.W_V(tokens)
    if cache is not None:
        k, v = (torch.cat([old, new], dim=-2) for old, new in zip(cache, (k, v)))
    new_cache = (k, v)
    q, k, v = (x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for x in (q, k, v))
    T, N = q.shape[-2], k.shape[-2]
    mask = torch.ones(T, N, dtype=torch.bool, device=q.device).tril(N - T)
    o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return layer.W_O(o.transpose(-3, -2).flatten(-2)), new_cache

# %% [wrong] hands_back_the_new_ones_only | The attention uses all keys and values, but what is returned as the cache are those of the new tokens alone. At the third call all words before the second one are forgotten.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    split = lambda x: x.reshape(*x.shape[:-1], layer.num_heads, -1).transpose(-3, -2)
    query, new_key, new_value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    key, value, P = new_key, new_value, 0
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat((cache[0], new_key), -2)
        value = torch.cat((cache[1], new_value), -2)
    T = tokens.shape[-2]
    may = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~may, -torch.inf)
    seen = scores.softmax(-1) @ value
    seen = seen.transpose(-3, -2)
    return layer.W_O(seen.reshape(tokens.shape)), (new_key, new_value)

# %% [right] places_compared_and_an_empty_cache | Without a cache it begins with one of length 0, so there is one path only; the mask comes from comparing places, and softmax and sum are written out.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    *lead, T, d_model = tokens.shape
    H = layer.num_heads
    d_head = d_model // H
    if cache is None:
        nothing = tokens.new_zeros(*lead, H, 0, d_head)
        cache = nothing, nothing
    query, *fresh = (linear(tokens).reshape(*lead, T, H, d_head).movedim(-2, -3) for linear in (layer.W_Q, layer.W_K, layer.W_V))
    keys, values = (torch.cat(pair, dim=-2) for pair in zip(cache, fresh))
    place = torch.arange(keys.shape[-2], device=tokens.device)
    later = place > place[-T:, None]
    scores = torch.einsum("...td,...sd->...ts", query, keys) / d_head**0.5
    weights = scores.masked_fill(later, float("-inf")).softmax(-1)
    output = torch.einsum("...hts,...hsd->...thd", weights, values).flatten(-2)
    return layer.W_O(output), (keys, values)
