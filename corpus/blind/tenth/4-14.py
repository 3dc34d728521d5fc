# %% [wrong] is_causal_with_a_cache | is_causal=True is used in place of a mask. PyTorch aligns that mask at the upper left, so new token t sees keys 0 to t, the oldest in the cache, and not itself; with an empty cache it is right.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    out = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), (key, value)

# %% [wrong] no_mask_at_all | There is no mask: the new tokens see all keys, also those of new tokens behind them. For one token at a time that is right; a prompt of several sees its own future.
def attend_with_cache(layer, tokens, cache=None):
    H = layer.num_heads
    q, k, v = (W(tokens).unflatten(-1, (H, -1)).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V))
    if cache is not None:
        old_k, old_v = cache
        k, v = torch.cat((old_k, k), -2), torch.cat((old_v, v), -2)
    y = F.scaled_dot_product_attention(q, k, v)
    y = layer.W_O(y.transpose(-3, -2).flatten(-2))
    return y, (k, v)

# %% [wrong] length_of_the_cache_from_the_head_axis | P is read from axis 1 of the cache, which is the number of heads. The mask is then shifted by H in place of P: with more tokens in the cache some of them are hidden, with fewer the future is seen.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    T, h = tokens.shape[-2], layer.num_heads
    heads = [torch.stack(w(tokens).chunk(h, -1), -3) for w in (layer.W_Q, layer.W_K, layer.W_V)]
    P = 0
    if cache is not None:
        P = cache[0].shape[1]
        heads[1] = torch.cat([cache[0], heads[1]], -2)
        heads[2] = torch.cat([cache[1], heads[2]], -2)
    mask = torch.ones(T, heads[1].shape[-2], dtype=torch.bool, device=tokens.device).tril(P)
    out = F.scaled_dot_product_attention(*heads, attn_mask=mask)
    return layer.W_O(torch.cat(out.unbind(-3), -1)), (heads[1], heads[2])

# %% [wrong] new_keys_in_front | The new keys and values are put in front of the kept ones. The mask counts from the left, so it hides old tokens and shows new ones from the future; and the cache is no longer in the order of the text.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    T = tokens.shape[-2]
    shape = (layer.num_heads, tokens.shape[-1] // layer.num_heads)
    Q = layer.W_Q(tokens).unflatten(-1, shape).movedim(-2, -3)
    K = layer.W_K(tokens).unflatten(-1, shape).movedim(-2, -3)
    V = layer.W_V(tokens).unflatten(-1, shape).movedim(-2, -3)
    P = 0
    if cache:
        P = cache[0].size(-2)
        K, V = torch.cat([K, cache[0]], dim=-2), torch.cat([V, cache[1]], dim=-2)
    may = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    heads = F.scaled_dot_product_attention(Q, K, V, attn_mask=may)
    return layer.W_O(heads.movedim(-3, -2).flatten(-2)), (K, V)

# %% [wrong] only_new_tokens_returned_as_cache | The output is right, but the cache that is returned holds the keys and values of the new tokens alone. From the third call on everything older is forgotten; all P + T tokens belong into it.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def heads(linear):
        return linear(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = heads(layer.W_Q), heads(layer.W_K), heads(layer.W_V)
    if cache is None:
        all_keys, all_values = key, value
    else:
        all_keys = torch.cat([cache[0], key], dim=-2)
        all_values = torch.cat([cache[1], value], dim=-2)
    T, N = query.shape[-2], all_keys.shape[-2]
    mask = torch.arange(N, device=tokens.device) <= torch.arange(N - T, N, device=tokens.device)[:, None]
    scores = (query @ all_keys.transpose(-2, -1) / query.shape[-1] ** 0.5).masked_fill(~mask, float("-inf"))
    output = scores.softmax(-1) @ all_values
    return layer.W_O(output.transpose(-3, -2).flatten(-2)), (key, value)

# %% [right] one_new_token_after_the_other | A loop over the new tokens: each looks at the keys up to itself, so no mask is needed; an empty cache is made where there is none.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H, width = layer.num_heads, layer.W_K.out_features // layer.num_heads
    if cache is None:
        nothing = tokens.new_empty(*tokens.shape[:-2], H, 0, width)
        cache = nothing, nothing
    asked, offered, told = (
        torch.stack(linear(tokens).split(width, dim=-1), dim=-3) for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    keys, values = (torch.cat(pair, dim=-2) for pair in zip(cache, (offered, told)))
    before = cache[0].shape[-2]
    brought = []
    for t in range(tokens.shape[-2]):
        end = before + t + 1
        similar = keys[..., :end, :] @ asked[..., t, :, None] / width**0.5  # (..., H, end, 1)
        brought.append((similar.softmax(dim=-2) * values[..., :end, :]).sum(-2))
    joined_heads = torch.stack(brought, dim=-3).flatten(-2)  # (..., T, H · d_head)
    return layer.W_O(joined_heads), (keys, values)
