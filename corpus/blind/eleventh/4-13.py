# %% [wrong] only_the_total_shrinks | When a larger score appears, the total is multiplied by exp(old − new), and the sum with the values is not. Both are measured against the old number, so both must shrink; with a single tile, or with the largest score in the first, nothing shows.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    S, d = key.shape[-2:]
    largest = torch.full_like(query[..., :1], float("-inf"))
    total = torch.zeros_like(largest)
    summed = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=value.dtype, device=value.device)
    for start in range(0, S, tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ k.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        weights = torch.exp(scores - new)
        total = total * torch.exp(largest - new) + weights.sum(-1, keepdim=True)
        summed = summed + weights @ v
        largest = new
    return summed / total

# %% [wrong] last_tile_dropped | The loop runs over S // tile full tiles. Where tile does not divide S, the keys left over are never looked at; and with a tile larger than S there is no tile at all, and 0 / 0 comes out.
def tiled_attention(query, key, value, tile):
    d = query.shape[-1]
    m = torch.full((*query.shape[:-1], 1), -torch.inf, dtype=query.dtype, device=query.device)
    l = torch.zeros_like(m)
    o = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype, device=query.device)
    for j in range(key.shape[-2] // tile):
        kj = key[..., j * tile : (j + 1) * tile, :]
        vj = value[..., j * tile : (j + 1) * tile, :]
        s = query @ kj.mT / d ** 0.5
        m_new = torch.maximum(m, s.max(dim=-1, keepdim=True).values)
        p = torch.exp(s - m_new)
        shrink = torch.exp(m - m_new)
        l = l * shrink + p.sum(-1, keepdim=True)
        o = o * shrink + p @ vj
        m = m_new
    return o / l

# %% [wrong] all_tiles_kept_in_a_list | The scores are made tile by tile, but every tile is kept in a list, and the softmax is taken of all of them at the end. The output is right; T × S numbers stand in memory, in several tensors and then in one, which the text forbids.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QK^T/sqrt(d))V with `tile` keys at a time."""
    tiles = [query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5 for k in key.split(tile, dim=-2)]
    largest = torch.stack([t.amax(-1) for t in tiles]).amax(0).unsqueeze(-1)
    exps = [torch.exp(t - largest) for t in tiles]
    total = sum(e.sum(-1, keepdim=True) for e in exps)
    return sum(e @ v for e, v in zip(exps, value.split(tile, dim=-2))) / total

# %% [wrong] queries_in_tiles | The queries are cut into tiles, and each of them looks at all keys at once with a plain softmax. The output is right, but at most `tile` keys at a time were asked for, and here it is all S of them.
def tiled_attention(query, key, value, tile):
    out = []
    for q in query.split(tile, dim=-2):
        s = torch.einsum("...td,...sd->...ts", q, key) / q.shape[-1] ** 0.5
        out.append(torch.einsum("...ts,...sv->...tv", s.softmax(-1), value))
    return torch.cat(out, dim=-2)

# %% [wrong] largest_begins_at_zero | The largest score so far begins at 0 and not at −∞. As long as some score is near 0 or above, this cancels; where all scores of a query lie far below 0, all exponentials become 0, and 0 / 0 is NaN.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    *lead, T, d = query.shape
    largest = query.new_zeros(*lead, T, 1)
    total = query.new_zeros(*lead, T, 1)
    summed = query.new_zeros(*lead, T, value.shape[-1])
    start = 0
    while start < key.shape[-2]:
        stop = min(start + tile, key.shape[-2])
        scores = query @ key[..., start:stop, :].transpose(-2, -1) * d**-0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ value[..., start:stop, :]
        largest, start = new, stop
    return summed / total

# %% [right] merged_by_logsumexp | Each tile gives its own finished attention and the logsumexp of its scores; two finished pieces are merged by logaddexp, so no sums have to be divided at the end.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    shrunk = query / query.shape[-1] ** 0.5
    seen = weight = None
    for some_keys, some_values in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        scores = shrunk @ some_keys.mT
        here = scores.logsumexp(dim=-1, keepdim=True)
        piece = scores.softmax(dim=-1) @ some_values
        if seen is None:
            seen, weight = piece, here
            continue
        both = torch.logaddexp(weight, here)
        seen = seen * (weight - both).exp() + piece * (here - both).exp()
        weight = both
    return seen
