# %% [wrong] only_the_total_is_corrected | When a larger score appears, only the total is multiplied by the shrink; the sum with the values should be, too. Earlier tiles count for too much.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    mixed = 0.0
    for keys, values in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        scores = query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        weights = torch.exp(scores - new)
        total = total * torch.exp(largest - new) + weights.sum(-1, keepdim=True)
        mixed = mixed + weights @ values
        largest = new
    return mixed / total

# %% [wrong] what_is_left_over | The loop runs over S // tile whole tiles; the rest of the keys, where tile does not divide S, should form one more. They are never looked at, and with tile > S there is nothing at all.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = torch.full_like(query[..., :1], float("-inf"))
    total = torch.zeros_like(largest)
    mixed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for number in range(key.shape[-2] // tile):
        part = slice(number * tile, (number + 1) * tile)
        scores = query @ key[..., part, :].transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        shrink, weights = (largest - new).exp(), (scores - new).exp()
        total = total * shrink + weights.sum(dim=-1, keepdim=True)
        mixed = mixed * shrink + weights @ value[..., part, :]
        largest = new
    return mixed / total

# %% [wrong] mean_of_the_tiles | Each tile gets a softmax of its own, and the outputs are averaged by the number of keys; they should be weighted by the tiles' sums of exponentials. A tile of bad keys counts as much as one of good keys.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    S, output = key.shape[-2], 0.0
    for start in range(0, S, tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        weights = torch.softmax(query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
        output = output + weights @ values * (keys.shape[-2] / S)
    return output

# %% [wrong] all_scores_kept | The scores of all tiles are kept in a list and put together for one softmax; the numbers are right, but T × S of them stand in memory, which is not allowed.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    root = query.shape[-1] ** 0.5
    scores = [query @ keys.transpose(-2, -1) / root for keys in key.split(tile, dim=-2)]
    weights = torch.cat(scores, dim=-1).softmax(-1).split(tile, dim=-1)
    return sum(share @ values for share, values in zip(weights, value.split(tile, dim=-2)))

# %% [wrong] corrected_the_other_way | The shrink is exp(new − old); it should be exp(old − new). The earlier sums grow where they should shrink, and in the first tile exp(∞) times 0 is NaN.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total, mixed = torch.zeros_like(largest), query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, key.shape[-2], tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink, weights = torch.exp(new - largest), torch.exp(scores - new)
        total = total * shrink + weights.sum(-1, keepdim=True)
        mixed = mixed * shrink + weights @ values
        largest = new
    return mixed / total

# %% [wrong] sum_as_wide_as_the_query | The sum with the values begins as zeros_like(query), d wide; it should be d_v wide. Right where d_v = d, an error of shapes elsewhere.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = torch.full_like(query[..., :1], float("-inf"))
    total, mixed = torch.zeros_like(largest), torch.zeros_like(query)
    for keys, values in zip(key.split(tile, -2), value.split(tile, -2), strict=True):
        scores = torch.einsum("...td,...sd->...ts", query, keys) * query.shape[-1] ** -0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        weights = (scores - new).exp()
        shrink = (largest - new).exp()
        total = shrink * total + weights.sum(-1, keepdim=True)
        mixed = shrink * mixed + weights @ values
        largest = new
    return mixed / total

# %% [right] a_column_of_ones | The values of each tile get a column of ones, so that one sum holds both the mixed values and, in its last column, the total; one correction serves both.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    query = query * query.shape[-1] ** -0.5
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    sums = query.new_zeros(*query.shape[:-1], value.shape[-1] + 1)
    for keys, values in zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True):
        scores = query @ keys.transpose(-2, -1)
        before, largest = largest, torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        powers = (scores - largest).exp()
        sums = sums * (before - largest).exp() + powers @ F.pad(values, (0, 1), value=1.0)
    return sums[..., :-1] / sums[..., -1:]
