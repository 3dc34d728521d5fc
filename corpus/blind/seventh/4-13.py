# %% [wrong] only_the_total_shrinks | When a larger score appears, the total is scaled down, but the sum with the values is not, so the earlier tiles keep too much weight; both sums need the factor.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    mixed = query.new_zeros((*query.shape[:-1], value.shape[-1]))
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        weights = (scores - new).exp()
        total = total * (largest - new).exp() + weights.sum(-1, keepdim=True)
        mixed = mixed + weights @ v
        largest = new
    return mixed / total

# %% [wrong] last_keys_forgotten | range(S // tile) only counts full tiles, so the keys behind the last full one are never seen; tile need not divide S, and with tile > S nothing is seen at all.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    S, d = key.shape[-2:]
    largest = query.new_full((*query.shape[:-1], 1), -torch.inf)
    total = torch.zeros_like(largest)
    acc = query.new_zeros((*query.shape[:-1], value.shape[-1]))
    for t in range(S // tile):
        part = slice(t * tile, (t + 1) * tile)
        s = query @ key[..., part, :].transpose(-2, -1) / d**0.5
        m = torch.maximum(largest, s.amax(-1, keepdim=True))
        shrink, w = (largest - m).exp(), (s - m).exp()
        total = shrink * total + w.sum(-1, keepdim=True)
        acc = shrink * acc + w @ value[..., part, :]
        largest = m
    return acc / total

# %% [wrong] mean_of_the_tiles | Attention is computed in each tile by itself, and the outputs are averaged; a tile with high scores should count more, and one with few keys less.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    output, count = 0, 0
    for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True):
        scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
        output = output + scores.softmax(-1) @ v
        count += 1
    return output / count

# %% [wrong] largest_begins_at_zero | The largest score begins at 0 and not at −∞; where all scores of a query lie far below 0, every exponential is rounded to 0, and the output is 0/0 = NaN.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = query.new_zeros((*query.shape[:-1], 1))
    total = query.new_zeros((*query.shape[:-1], 1))
    mixed = query.new_zeros((*query.shape[:-1], value.shape[-1]))
    for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True):
        scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = torch.exp(largest - new)
        weights = torch.exp(scores - new)
        total = total * shrink + weights.sum(-1, keepdim=True)
        mixed = mixed * shrink + weights @ v
        largest = new
    return mixed / total

# %% [wrong] output_as_wide_as_the_query | The sum with the values begins as zeros_like(query), d wide; the values may have another width d_v, and then the shapes do not fit.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = torch.full_like(query[..., :1], float("-inf"))
    total = torch.zeros_like(query[..., :1])
    mixed = torch.zeros_like(query)
    for i in range(0, key.shape[-2], tile):
        scores = query @ key[..., i : i + tile, :].transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        mixed = mixed * shrink + weights @ value[..., i : i + tile, :]
        largest = new
    return mixed / total

# %% [wrong] tiles_kept_in_a_list | The scores of all tiles are kept in a list to find the largest and the total afterwards; together they are T × S numbers, which the task forbids, in one tensor or in several.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    scale = query.shape[-1] ** -0.5
    keys, values = key.split(tile, dim=-2), value.split(tile, dim=-2)
    scores = [query @ k.transpose(-2, -1) * scale for k in keys]
    largest = scores[0].amax(-1, keepdim=True)
    for s in scores[1:]:
        largest = torch.maximum(largest, s.amax(-1, keepdim=True))
    total, mixed = 0, 0
    for s, v in zip(scores, values, strict=True):
        w = (s - largest).exp()
        total = total + w.sum(-1, keepdim=True)
        mixed = mixed + w @ v
    return mixed / total

# %% [right] running_logarithm | keeps the finished mean so far and the logarithm of its total; each tile shifts the mean by its share
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    scaled = query * query.shape[-1] ** -0.5
    log_total = query.new_full((*query.shape[:-1], 1), -torch.inf)
    mean = query.new_zeros((*query.shape[:-1], value.shape[-1]))
    for keys, values in zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True):
        scores = scaled @ keys.transpose(-2, -1)  # (..., T, tile)
        together = torch.logaddexp(log_total, scores.logsumexp(dim=-1, keepdim=True))
        mean = mean * (log_total - together).exp() + (scores - together).exp() @ values
        log_total = together
    return mean
