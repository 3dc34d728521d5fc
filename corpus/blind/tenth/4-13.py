# %% [wrong] total_not_scaled | When a larger score comes, the sum with the values is scaled and the total is not. Both are measured against the old largest; the divisor comes out too large.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    scale = query.shape[-1] ** -0.5
    largest = torch.full_like(query[..., :1], float("-inf"))
    total = torch.zeros_like(largest)
    acc = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype, device=query.device)
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ k.transpose(-2, -1) * scale
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = torch.exp(largest - new)
        weights = torch.exp(scores - new)
        total = total + weights.sum(-1, keepdim=True)
        acc = acc * shrink + weights @ v
        largest = new
    return acc / total

# %% [wrong] last_keys_left_out | The number of tiles is S // tile, so keys that do not fill a tile are left out at the end. tile need not divide S; with a tile larger than S nothing is seen at all.
def tiled_attention(query, key, value, tile):
    d = query.shape[-1]
    m = torch.full(query.shape[:-1] + (1,), -float("inf"), device=query.device, dtype=query.dtype)
    l = torch.zeros_like(m)
    o = query.new_zeros(query.shape[:-1] + (value.shape[-1],))
    for i in range(key.shape[-2] // tile):
        part = slice(i * tile, (i + 1) * tile)
        s = query @ key[..., part, :].transpose(-1, -2) / d**0.5
        m_new = torch.maximum(m, s.max(-1, keepdim=True).values)
        p = (s - m_new).exp()
        l = l * (m - m_new).exp() + p.sum(-1, keepdim=True)
        o = o * (m - m_new).exp() + p @ value[..., part, :]
        m = m_new
    return o / l

# %% [wrong] tiles_of_scores_collected | The scores are made tile by tile, kept in a list and put together for one softmax. The output is right, but in the end T × S numbers stand in memory, which the text forbids, in one tensor or in several.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    pieces = [query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5 for k in key.split(tile, dim=-2)]
    largest = torch.stack([p.amax(-1) for p in pieces]).amax(0).unsqueeze(-1)
    exps = [torch.exp(p - largest) for p in pieces]
    total = sum(e.sum(-1, keepdim=True) for e in exps)
    return sum(e @ v for e, v in zip(exps, value.split(tile, dim=-2))) / total

# %% [wrong] largest_begins_at_zero | The largest score begins at 0 in place of −∞. While some score is near 0 or above, nothing changes; where all scores of a query are far below 0, every exponential becomes 0 and the output is 0 / 0 = NaN.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = torch.zeros_like(query[..., :1])
    total = torch.zeros_like(query[..., :1])
    summed = torch.zeros_like(query[..., :1] * value[..., :1, :])
    for k, v in zip(key.split(tile, -2), value.split(tile, -2)):
        scores = torch.einsum("...td,...sd->...ts", query, k) / query.shape[-1] ** 0.5
        new_largest = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        shrink = (largest - new_largest).exp()
        weights = (scores - new_largest).exp()
        total = total * shrink + weights.sum(dim=-1, keepdim=True)
        summed = summed * shrink + weights @ v
        largest = new_largest
    return summed / total

# %% [wrong] mean_of_the_tiles | Each tile gets a softmax of its own, and the outputs of the tiles are averaged. The tiles then count alike, whatever their scores are; the softmax goes over all keys.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    n_keys = key.shape[-2]
    output, tiles = 0, 0
    for start in range(0, n_keys, tile):
        stop = min(start + tile, n_keys)
        scores = query @ key[..., start:stop, :].mT / query.shape[-1] ** 0.5
        output = output + torch.softmax(scores, -1) @ value[..., start:stop, :]
        tiles += 1
    return output / tiles

# %% [right] two_walks_over_the_keys | The keys are walked over twice: the first walk finds the largest score of each query, the second one adds up, so nothing has to be scaled on the way. A column of ones beside the values brings the total along.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    def scores_of(start):
        return torch.einsum("...td,...sd->...ts", query, key[..., start : start + tile, :]) / query.shape[-1] ** 0.5

    starts = range(0, key.shape[-2], tile)
    largest = scores_of(0).amax(-1, keepdim=True)
    for start in starts[1:]:
        largest = largest.maximum(scores_of(start).amax(-1, keepdim=True))
    both = 0
    for start in starts:
        part = value[..., start : start + tile, :]
        both = both + torch.exp(scores_of(start) - largest) @ F.pad(part, (0, 1), value=1.0)
    return both[..., :-1] / both[..., -1:]
