# %% [wrong] sum_with_values_not_shrunk | When a larger score comes, only the total is scaled down; the sum with the values stays measured against the old largest. Both sums must be multiplied by exp(old - new).
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    d = query.shape[-1]
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, key.shape[-2], tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed + weights @ values
        largest = new
    return summed / total


# %% [wrong] keys_that_fill_no_tile_are_lost | Only whole tiles are visited: where tile does not divide S, the last keys are never looked at, and with a tile larger than S none is. The last tile may be shorter.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    scaled = query * query.shape[-1] ** -0.5
    best = torch.full_like(query[..., :1], -torch.inf)
    total = torch.zeros_like(best)
    mixed = torch.zeros_like(best)  # becomes (..., T, d_v)
    for number in range(key.shape[-2] // tile):
        k = key.narrow(-2, number * tile, tile)
        v = value.narrow(-2, number * tile, tile)
        scores = scaled @ k.mT
        new_best = torch.maximum(best, scores.max(dim=-1, keepdim=True).values)
        factor = torch.exp(best - new_best)
        exps = torch.exp(scores - new_best)
        mixed = mixed * factor + exps @ v
        total = total * factor + exps.sum(dim=-1, keepdim=True)
        best = new_best
    return mixed / total
