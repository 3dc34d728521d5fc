# %% [wrong] causal_only_without_a_cache | With a cache no mask is used at all. That is right for one new token; of several, the earlier ones see the later ones. New token t may see P + t + 1 keys, with a cache as well.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    seen = F.scaled_dot_product_attention(query, key, value, is_causal=cache is None)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)


# %% [wrong] cache_of_the_new_tokens_only | The cache that is returned holds the keys and values of the new tokens alone, so after the next call everything before is forgotten. It must hold those of all P + T tokens.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    H, T = layer.num_heads, tokens.shape[-2]
    q = layer.W_Q(tokens).unflatten(-1, (H, -1)).movedim(-2, -3)
    k = layer.W_K(tokens).unflatten(-1, (H, -1)).movedim(-2, -3)
    v = layer.W_V(tokens).unflatten(-1, (H, -1)).movedim(-2, -3)
    if cache is None:
        all_keys, all_values, P = k, v, 0
    else:
        past_keys, past_values = cache
        P = past_keys.shape[-2]
        all_keys = torch.cat((past_keys, k), -2)
        all_values = torch.cat((past_values, v), -2)
    scores = q @ all_keys.transpose(-1, -2) / q.shape[-1] ** 0.5
    allowed = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    output = layer.W_O((weights @ all_values).movedim(-3, -2).flatten(-2))
    cache = (k, v)
    return output, cache
