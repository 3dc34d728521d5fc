# %% [wrong] shrinks_by_the_new_largest | `largest` is replaced before the shrink factor is made, so the factor is exp(new − new) = 1. The old largest should be kept for it. When a later tile has a larger score, earlier tiles count too much.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    T = query.shape[-2]
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    mixed = query.new_zeros(*query.shape[:-2], T, value.shape[-1])
    for start in range(0, key.shape[-2], tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        largest = new
        shrink, weights = (largest - new).exp(), (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        mixed = mixed * shrink + weights @ values
    return mixed / total

# %% [wrong] largest_begins_at_zero | The largest score begins at 0. It should begin at −∞, for all scores may be negative. Where all of them are below about −104, every exponential is 0, and 0/0 comes out.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    scale = query.shape[-1] ** -0.5
    m = torch.zeros_like(query[..., :1])
    l = torch.zeros_like(m)
    acc = 0.0
    for k, v in zip(key.split(tile, -2), value.split(tile, -2)):
        s = torch.einsum("...td,...sd->...ts", query, k) * scale
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - m_new)
        alpha = torch.exp(m - m_new)
        l = alpha * l + p.sum(-1, keepdim=True)
        acc = alpha * acc + p @ v
        m = m_new
    return acc / l

# %% [wrong] rest_of_the_keys_dropped | The number of tiles is S // tile. Where tile does not divide S, one smaller tile is left, which should be counted, too. The last keys are never looked at.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    S = key.size(-2)
    tile = min(tile, S)
    shape = query.shape[:-1]
    largest = torch.full((*shape, 1), -torch.inf, dtype=query.dtype, device=query.device)
    total, summed = torch.zeros_like(largest), torch.zeros(*shape, value.size(-1), dtype=query.dtype, device=query.device)
    for number in range(S // tile):
        here = slice(number * tile, (number + 1) * tile)
        scores = query @ key[..., here, :].mT / query.size(-1) ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink, weights = (largest - new).exp(), (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ value[..., here, :]
        largest = new
    return summed / total

# %% [wrong] queries_in_tiles | The queries are cut into tiles, and each tile meets all keys at once. At most `tile` keys at a time were asked for. The numbers are right, but with a tile of many queries all T × S scores stand in memory.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    outputs = []
    for some in query.split(tile, dim=-2):
        scores = some @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        outputs.append(torch.softmax(scores, dim=-1) @ value)
    return torch.cat(outputs, dim=-2)

# %% [wrong] mean_of_the_tiles | Each tile gets a softmax of its own, and the outputs are averaged. A tile should count by the sum of its exponentials. A tile without anything of interest counts as much as the one with the answer.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    def look(keys, values):
        return F.softmax(query @ keys.mT / query.shape[-1] ** 0.5, dim=-1) @ values

    parts = [look(k, v) for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2))]
    return sum(parts) / len(parts)

# %% [wrong] largest_of_this_tile_alone | The new largest is that of the current tile alone. It should be the larger one of old and new. As long as scores are close nothing happens; where a tile's scores lie 90 below those before, the factor is infinite, and NaN comes out.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest, total, mixed = None, 0.0, 0.0
    for start in range(0, key.shape[-2], tile):
        stop = start + tile
        scores = (query / query.shape[-1] ** 0.5) @ key[..., start:stop, :].transpose(-2, -1)
        new = scores.amax(dim=-1, keepdim=True)
        shrink = torch.exp(largest - new) if largest is not None else 1.0
        grown = torch.exp(scores - new)
        total = total * shrink + grown.sum(dim=-1, keepdim=True)
        mixed = mixed * shrink + grown @ value[..., start:stop, :]
        largest = new
    return mixed / total

# %% [right] tiles_joined_by_logsumexp | Keeps a finished output and its logsumexp, and mixes each new tile in with a sigmoid of the difference.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    output = weight = None
    for keys, values in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        scores = torch.matmul(query, keys.transpose(-1, -2)).mul_(query.shape[-1] ** -0.5)
        here = scores.logsumexp(-1, keepdim=True)
        seen = torch.matmul(scores.sub_(here).exp_(), values)
        if output is None:
            output, weight = seen, here
        else:
            output = output + torch.sigmoid(here - weight) * (seen - output)
            weight = torch.logaddexp(weight, here)
    return output
