# %% [wrong] never_shrunk | When a tile has a larger score, the sums so far are not multiplied by exp(old − new): exponentials measured against different numbers are added up
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    q = query / query.shape[-1] ** 0.5
    largest = torch.full((*q.shape[:-1], 1), float("-inf"), dtype=q.dtype, device=q.device)
    total, summed = 0.0, 0.0
    for k, v in zip(key.split(tile, -2), value.split(tile, -2)):
        s = q @ k.transpose(-2, -1)
        largest = torch.maximum(largest, s.amax(-1, keepdim=True))
        w = (s - largest).exp()
        total = total + w.sum(-1, keepdim=True)
        summed = summed + w @ v
    return summed / total

# %% [wrong] only_total_shrunk | shrink is applied to the total and forgotten for the sum with the values, so the values of earlier tiles weigh too much
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    m = torch.full_like(query[..., :1], float("-inf"))
    l = torch.zeros_like(m)
    acc = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype, device=query.device)
    for start in range(0, key.shape[-2], tile):
        s = query @ key[..., start:start + tile, :].mT / query.shape[-1] ** 0.5
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - m_new)
        l = l * torch.exp(m - m_new) + p.sum(-1, keepdim=True)
        acc = acc + p @ value[..., start:start + tile, :]
        m = m_new
    return acc / l

# %% [wrong] last_tile_lost | The loop runs S // tile times, so keys that do not fill a whole tile are never seen (and with tile > S none at all: 0/0)
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    S, scale = key.shape[-2], query.shape[-1] ** -0.5
    best = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(best)
    mixed = query.new_zeros((*query.shape[:-1], value.shape[-1]))
    for t in range(S // tile):
        part = slice(t * tile, (t + 1) * tile)
        scores = query @ key[..., part, :].transpose(-2, -1) * scale
        new = torch.maximum(best, scores.amax(-1, keepdim=True))
        shrink, w = torch.exp(best - new), torch.exp(scores - new)
        total = total * shrink + w.sum(-1, keepdim=True)
        mixed = mixed * shrink + w @ value[..., part, :]
        best = new
    return mixed / total

# %% [wrong] shrink_inverted | shrink is exp(new − old) instead of exp(old − new); already in the first tile that is exp(∞) · 0 = NaN
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    lead = query.shape[:-1]
    old = torch.full((*lead, 1), -torch.inf, dtype=query.dtype, device=query.device)
    total = torch.zeros_like(old)
    out = torch.zeros((*lead, value.shape[-1]), dtype=query.dtype, device=query.device)
    for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        scores = query @ k.mT / query.shape[-1] ** 0.5
        new = torch.maximum(old, scores.max(-1, keepdim=True).values)
        shrink = (new - old).exp()
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        out = out * shrink + weights @ v
        old = new
    return out / total

# %% [wrong] softmax_per_tile | Each tile gets a softmax of its own, and the outputs of the tiles are averaged, weighted by their sizes: the tiles' totals are never compared, so a tile of poor keys counts as much as one of good keys
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    S = key.shape[-2]
    out = 0.0
    for k, v in zip(key.split(tile, -2), value.split(tile, -2)):
        w = (query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5).softmax(-1)
        out = out + (k.shape[-2] / S) * (w @ v)
    return out

# %% [wrong] scores_collected | The scores of all tiles are kept in a list and joined before one softmax: the output is right, but T × S numbers stand in memory, which the task forbids
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    blocks = []
    for k in key.split(tile, dim=-2):
        blocks.append(query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5)
    weights = torch.cat(blocks, dim=-1).softmax(-1)
    return weights @ value

# %% [right] running_logsumexp | keeps the running output itself and the log of the total; each tile is mixed in with its share
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    query = query * query.shape[-1] ** -0.5
    output, log_total = None, None
    for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        scores = query @ k.transpose(-2, -1)
        here = scores.logsumexp(dim=-1, keepdim=True)
        mixed = (scores - here).exp() @ v
        if output is None:
            output, log_total = mixed, here
            continue
        both = torch.logaddexp(log_total, here)
        output = output * (log_total - both).exp() + mixed * (here - both).exp()
        log_total = both
    return output
