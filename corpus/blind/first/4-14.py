# %% [wrong] is_causal_flag | is_causal=True stands in for the mask: with a cache, the new token then sees only the first of the kept ones.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    split = lambda x: x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    output = layer.W_O(seen.transpose(-3, -2).flatten(-2))
    return output, (key, value)
# %% [wrong] no_mask | There is no mask at all: a new token also sees the new tokens that follow it.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    seen = F.scaled_dot_product_attention(query, key, value)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)
# %% [wrong] new_before_old | The new keys and values are put in front of the kept ones.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    P = 0
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([key, cache[0]], dim=-2)
        value = torch.cat([value, cache[1]], dim=-2)
    T = tokens.shape[-2]
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)
# %% [wrong] only_new_cached | The new cache holds the new keys and values alone; those of the earlier tokens are lost.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    keys, values = key, value
    if cache is not None:
        keys = torch.cat([cache[0], key], dim=-2)
        values = torch.cat([cache[1], value], dim=-2)
    T, all_ = tokens.shape[-2], keys.shape[-2]
    mask = torch.ones(T, all_, dtype=torch.bool, device=tokens.device).tril(all_ - T)
    seen = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)
# %% [wrong] tril_of_0 | The mask is cut at the main diagonal, tril() without P, so a new token misses the last kept ones and itself.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    mask = torch.ones(tokens.shape[-2], key.shape[-2], dtype=torch.bool, device=tokens.device).tril()
    seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)
# %% [wrong] no_output_projection | The heads are joined, and W_O is forgotten.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    P = 0
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    T = tokens.shape[-2]
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return seen.transpose(-3, -2).flatten(-2), (key, value)
# %% [wrong] heads_not_moved_back | The heads are joined without moving their axis back, so words and heads are mixed up.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    P = 0
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    T = tokens.shape[-2]
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(seen.reshape(tokens.shape)), (key, value)
# %% [wrong] cat_along_heads | The kept keys and values are joined along the axis of the heads, -3 in place of -2.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    P = 0
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=1)
        value = torch.cat([cache[1], value], dim=1)
    T = tokens.shape[-2]
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)
# %% [wrong] cache_needed | The cache is used without asking whether there is one: the first call has none.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_V(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = torch.cat([cache[0], key], dim=-2)
    value = torch.cat([cache[1], value], dim=-2)
    T, P = tokens.shape[-2], cache[0].shape[-2]
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)
# %% [wrong] values_from_keys | Copied a line too often: the values are projected with W_K, like the keys.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    P = 0
    if cache is not None:
        P = cache[0].shape[-2]
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    T = tokens.shape[-2]
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)
# %% [right] positions_compared | Starts from an empty cache, builds the mask by comparing places, and writes the softmax itself.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    q, k, v = (
        torch.movedim(linear(tokens).unflatten(-1, (layer.num_heads, -1)), -2, -3)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    old_k, old_v = cache or (k[..., :0, :], v[..., :0, :])
    k, v = torch.cat((old_k, k), -2), torch.cat((old_v, v), -2)
    seen_by = torch.arange(k.size(-2), device=k.device)
    place = seen_by[old_k.size(-2) :, None]
    scores = torch.einsum("...htd,...hsd->...hts", q, k) / k.size(-1) ** 0.5
    weights = scores.masked_fill(seen_by > place, -torch.inf).softmax(-1)
    return layer.W_O((weights @ v).movedim(-3, -2).reshape(tokens.shape)), (k, v)
# %% [right] word_by_word | Takes the new tokens one after the other, and calls itself; no mask is needed.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    """Causal self-attention of new tokens to those in the cache and to themselves."""
    if tokens.shape[-2] > 1:
        outputs = []
        for t in range(tokens.shape[-2]):
            output, cache = attend_with_cache(layer, tokens[..., t : t + 1, :], cache)
            outputs.append(output)
        return torch.cat(outputs, dim=-2), cache

    def heads(x):
        return x.reshape(*x.shape[:-1], layer.num_heads, -1).transpose(-3, -2)

    key, value = heads(layer.W_K(tokens)), heads(layer.W_V(tokens))
    if cache:
        key, value = (torch.cat(pair, dim=-2) for pair in zip(cache, (key, value)))
    seen = F.scaled_dot_product_attention(heads(layer.W_Q(tokens)), key, value)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)
