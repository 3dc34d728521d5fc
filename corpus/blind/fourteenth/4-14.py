# %% [wrong] new_keys_put_in_front | New keys and values are put in front of the kept ones, so the order in the cache is wrong and the mask fits the wrong columns.
def attend_with_cache(layer: nn.Module, tokens: Tensor, cache: tuple[Tensor, Tensor] | None = None):
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    query, key, value = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    T = tokens.shape[-2]
    if cache is not None:
        key = torch.cat([key, cache[0]], dim=-2)
        value = torch.cat([value, cache[1]], dim=-2)
    P = key.shape[-2] - T
    mask = torch.ones(T, P + T, dtype=torch.bool, device=tokens.device).tril(P)
    seen = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), (key, value)
