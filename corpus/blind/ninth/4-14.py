# %% [wrong] flag_for_causal | is_causal=True is left to lay the mask. PyTorch's begins at the upper left corner, so new token t sees keys 0…t; it should see P + t + 1 keys. With a cache the new word sees only the first words.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is not None:
        key, value = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] no_mask_with_a_cache | Only the first call has a mask; with a cache a single new token is assumed, which may see everything. It should work for any T. Several new tokens behind a cache see those that come after them.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H = layer.num_heads
    q, k, v = (w(tokens).unflatten(-1, (H, -1)).transpose(-3, -2) for w in (layer.W_Q, layer.W_K, layer.W_V))
    if cache is None:
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    else:
        past_k, past_v = cache
        k, v = torch.cat((past_k, k), -2), torch.cat((past_v, v), -2)
        out = F.scaled_dot_product_attention(q, k, v)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (k, v)

# %% [wrong] joined_on_axis_two | Old and new keys are joined on axis 2. The words are the axis before the last, which is axis 2 only with one batch axis. Without a batch the widths are joined, and an error comes out.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)
    query = split(layer.W_Q(tokens))
    new = split(layer.W_K(tokens)), split(layer.W_V(tokens))
    keys, values = new if cache is None else (torch.cat([old, n], 2) for old, n in zip(cache, new))
    T, total = query.shape[-2], keys.shape[-2]
    mask = torch.ones(T, total, dtype=torch.bool, device=tokens.device).tril(total - T)
    weights = (query @ keys.mT / query.shape[-1] ** 0.5).masked_fill(~mask, float("-inf")).softmax(-1)
    return layer.W_O((weights @ values).movedim(-3, -2).flatten(-2)), (keys, values)

# %% [wrong] cache_taken_apart_the_wrong_way | The cache is taken apart as (values, keys), and handed back as (keys, values). It is (keys, values) both times. From the second call on old values are compared, and old keys mixed.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H, T = layer.num_heads, tokens.shape[-2]
    heads = lambda x: torch.stack(x.chunk(H, dim=-1), dim=-3)
    q, k, v = heads(layer.W_Q(tokens)), heads(layer.W_K(tokens)), heads(layer.W_V(tokens))
    if cache:
        old_v, old_k = cache
        k, v = torch.cat([old_k, k], dim=-2), torch.cat([old_v, v], dim=-2)
    P = k.shape[-2] - T
    allowed = torch.ones(T, P + T, dtype=torch.bool, device=q.device).tril(P)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return layer.W_O(torch.cat(out.unbind(-3), dim=-1)), (k, v)

# %% [wrong] scaled_keys_are_kept | The keys are divided by √d_head after they were joined, and kept so. They should be kept as they are. At each call the older keys are divided once more, and the past fades.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    q, k, v = [
        proj(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3) for proj in (layer.W_Q, layer.W_K, layer.W_V)
    ]
    if cache is not None:
        k = torch.cat([cache[0], k], dim=-2)
        v = torch.cat([cache[1], v], dim=-2)
    k = k / k.shape[-1] ** 0.5
    T, n = q.shape[-2], k.shape[-2]
    scores = torch.einsum("...qd,...kd->...qk", q, k)
    future = torch.ones(T, n, dtype=torch.bool, device=q.device).triu(n - T + 1)
    weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
    out = torch.einsum("...hqk,...hkd->...qhd", weights, v)
    return layer.W_O(out.flatten(-2)), (k, v)

# %% [wrong] keeps_the_new_ones_only | The keys and values of the new tokens alone come back as the cache. It should hold those of all P + T tokens. The next word sees only the one before it.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def to_heads(x):
        return x.reshape(*x.shape[:-1], layer.num_heads, -1).transpose(-3, -2)

    query, key, value = map(to_heads, (layer.W_Q(tokens), layer.W_K(tokens), layer.W_V(tokens)))
    all_keys, all_values = key, value
    if cache is not None:
        all_keys = torch.cat([cache[0], key], dim=-2)
        all_values = torch.cat([cache[1], value], dim=-2)
    t, n = query.shape[-2], all_keys.shape[-2]
    mask = torch.tril(torch.ones(t, n, device=query.device), diagonal=n - t).bool()
    seen = F.scaled_dot_product_attention(query, all_keys, all_values, attn_mask=mask)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)

# %% [right] word_by_word | Goes over the new tokens one by one: each puts its key and value behind the others and looks at all that are there, so that no mask is needed.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    d_head = layer.W_Q.out_features // layer.num_heads
    if cache is None:
        empty = tokens.new_zeros(*tokens.shape[:-2], layer.num_heads, 0, d_head)
        cache = empty, empty
    keys, values = cache
    said = []
    for word in tokens.split(1, dim=-2):
        q, k, v = (
            torch.cat([part.unsqueeze(-3) for part in linear(word).split(d_head, -1)], dim=-3)
            for linear in (layer.W_Q, layer.W_K, layer.W_V)
        )
        keys, values = torch.cat([keys, k], -2), torch.cat([values, v], -2)
        weights = (q @ keys.mT).div(d_head**0.5).softmax(-1)
        said.append(layer.W_O(torch.einsum("...hqk,...hkd->...qhd", weights, values).flatten(-2)))
    return torch.cat(said, dim=-2), (keys, values)
