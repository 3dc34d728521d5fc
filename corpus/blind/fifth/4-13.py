# %% [wrong] values_not_shrunk | when the largest score changes, only the total is multiplied by shrink and not the sum with the values; what came from earlier tiles counts too much
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = query.new_full((*query.shape[:-1], 1), -torch.inf)
    total = torch.zeros_like(largest)
    mixed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        w = (scores - new).exp()
        total = total * shrink + w.sum(-1, keepdim=True)
        mixed = mixed + w @ v
        largest = new
    return mixed / total

# %% [wrong] softmax_in_each_tile | each tile gets a softmax of its own and the outputs are averaged; tiles with small scores then count as much as those with large ones
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    outs = []
    for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        w = torch.softmax(query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
        outs.append(w @ v)
    return sum(outs) / len(outs)

# %% [wrong] rest_left_out | the loop runs over S // tile whole tiles, so the keys that are left at the end are never seen; tile need not divide S (and a tile larger than S sees nothing)
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    S, scale = key.shape[-2], query.shape[-1] ** -0.5
    largest = torch.full_like(query[..., :1], -torch.inf)
    total = torch.zeros_like(largest)
    out = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype, device=query.device)
    for i in range(S // tile):
        ks, vs = key[..., i * tile : (i + 1) * tile, :], value[..., i * tile : (i + 1) * tile, :]
        s = query @ ks.transpose(-2, -1) * scale
        new = torch.maximum(largest, s.amax(dim=-1, keepdim=True))
        factor, e = torch.exp(largest - new), torch.exp(s - new)
        total = total * factor + e.sum(-1, keepdim=True)
        out = out * factor + e @ vs
        largest = new
    return out / total

# %% [wrong] shrink_turned_round | shrink is exp(new − old) in place of exp(old − new): what came before is blown up where it should shrink, and exp(… − (−∞)) makes the first tile 0 · ∞ = NaN
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    m = query.new_full((*query.shape[:-1], 1), float("-inf"))
    l = torch.zeros_like(m)
    acc = query.new_zeros((*query.shape[:-1], value.shape[-1]))
    for start in range(0, key.shape[-2], tile):
        stop = start + tile
        s = query @ key[..., start:stop, :].transpose(-2, -1) / query.shape[-1] ** 0.5
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        alpha = torch.exp(m_new - m)
        p = torch.exp(s - m_new)
        l = l * alpha + p.sum(-1, keepdim=True)
        acc = acc * alpha + p @ value[..., start:stop, :]
        m = m_new
    return acc / l

# %% [wrong] all_scores_kept | the scores are made tile by tile, but joined into one T × S tensor for a softmax at the end; the numbers are right, but T × S numbers stand in memory
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    pieces = []
    for k in key.split(tile, dim=-2):
        pieces.append(query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5)
    weights = torch.cat(pieces, dim=-1).softmax(-1)
    out = 0
    start = 0
    for v in value.split(tile, dim=-2):
        out = out + weights[..., start : start + v.shape[-2]] @ v
        start += v.shape[-2]
    return out

# %% [wrong] root_of_the_tile | the scores are divided by the root of the number of keys in the tile, k.shape[-2], and not of the width d; the result depends on the size of the tiles
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = torch.full(query.shape[:-1] + (1,), float("-inf"), dtype=query.dtype, device=query.device)
    total, sums = torch.zeros_like(largest), 0.0
    for k, v in zip(key.split(tile, -2), value.split(tile, -2)):
        scores = query @ k.mT / k.shape[-2] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = torch.exp(largest - new)
        weights = torch.exp(scores - new)
        total = total * shrink + weights.sum(-1, keepdim=True)
        sums = sums * shrink + weights @ v
        largest = new
    return sums / total

# %% [right] two_walks | two walks over the tiles: the first finds the largest score of each query, the second adds up with it, so nothing has to be corrected
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    asked = query * query.shape[-1] ** -0.5
    keys, values = key.split(tile, dim=-2), value.split(tile, dim=-2)
    largest = None
    for some in keys:
        here = (asked @ some.transpose(-2, -1)).amax(dim=-1, keepdim=True)
        largest = here if largest is None else torch.maximum(largest, here)
    total, mixed = torch.zeros_like(largest), 0.0
    for some, brought in zip(keys, values, strict=True):
        weights = torch.exp(asked @ some.transpose(-2, -1) - largest)
        total = total + weights.sum(dim=-1, keepdim=True)
        mixed = mixed + weights @ brought
    return mixed / total
