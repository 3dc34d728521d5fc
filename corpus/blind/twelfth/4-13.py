# %% [wrong] largest_begins_at_zero | the running largest begins at 0 instead of -inf: where all scores of a query lie far below 0, all exponentials underflow and the output is 0 / 0 = NaN
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    shape = query.shape[:-1]
    largest = torch.zeros(*shape, 1, dtype=query.dtype, device=query.device)
    total = torch.zeros_like(largest)
    summed = torch.zeros(*shape, value.shape[-1], dtype=query.dtype, device=query.device)
    for k, v in zip(key.split(tile, -2), value.split(tile, -2)):
        scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink, weights = (largest - new).exp(), (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ v
        largest = new
    return summed / total


# %% [wrong] last_tile_dropped | goes over S // tile whole tiles: where tile does not divide S the rest of the keys is never seen, and with a tile larger than S there is no tile at all (0 / 0)
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    S, d = key.shape[-2:]
    state = None
    m = torch.full(query.shape[:-1] + (1,), float("-inf"), dtype=query.dtype, device=query.device)
    l = torch.zeros_like(m)
    acc = torch.zeros(query.shape[:-1] + (value.shape[-1],), dtype=query.dtype, device=query.device)
    for t in range(S // tile):
        rows = slice(t * tile, (t + 1) * tile)
        s = torch.einsum("...td,...sd->...ts", query, key[..., rows, :]) * d**-0.5
        m_new = torch.maximum(m, s.max(-1, keepdim=True).values)
        p = torch.exp(s - m_new)
        c = torch.exp(m - m_new)
        l = l * c + p.sum(-1, keepdim=True)
        acc = acc * c + p @ value[..., rows, :]
        m = m_new
    return acc / l


# %% [wrong] tiles_averaged | makes a full softmax within each tile and averages the outputs, weighted by the number of keys: a tile counts by its size, however large its scores are, instead of by its total of exponentials
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    out, seen = 0.0, 0
    S = key.shape[-2]
    for start in range(0, S, tile):
        k = key[..., start : start + tile, :]
        v = value[..., start : start + tile, :]
        part = (query @ k.mT / query.shape[-1] ** 0.5).softmax(-1) @ v
        n = k.shape[-2]
        out = (out * seen + part * n) / (seen + n)
        seen += n
    return out


# %% [wrong] all_scores_kept | computes tile by tile but keeps the scores of all tiles in a list for the softmax: the numbers are right, yet T x S numbers stand in memory, only in several tensors
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    scale = query.size(-1) ** -0.5
    parts = [query @ k.transpose(-2, -1) * scale for k in key.split(tile, dim=-2)]
    largest = torch.stack([p.amax(-1) for p in parts]).amax(0).unsqueeze(-1)
    total = sum((p - largest).exp().sum(-1, keepdim=True) for p in parts)
    output = torch.zeros(*query.shape[:-1], value.size(-1), dtype=value.dtype, device=value.device)
    for p, v in zip(parts, value.split(tile, dim=-2)):
        output = output + (p - largest).exp() / total @ v
    return output


# %% [wrong] values_not_shrunk | only the total is multiplied by exp(old - new); the sum with the values still holds exponentials that were measured against the old largest, so earlier tiles count too much
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    class Running:
        def __init__(self):
            self.largest = query.new_full((*query.shape[:-1], 1), -torch.inf)
            self.total = torch.zeros_like(self.largest)
            self.output = query.new_zeros(*query.shape[:-1], value.shape[-1])

        def update(self, scores, values):
            before = self.largest
            self.largest = torch.maximum(before, scores.amax(-1, keepdim=True))
            weights = torch.exp(scores - self.largest)
            self.total = self.total * torch.exp(before - self.largest) + weights.sum(-1, keepdim=True)
            self.output = self.output + weights @ values

    run = Running()
    for start in range(0, key.shape[-2], tile):
        end = start + tile
        run.update(query @ key[..., start:end, :].mT / query.shape[-1] ** 0.5, value[..., start:end, :])
    return run.output / run.total


# %% [right] two_walks | walks twice over the keys: first only the log of the total (logaddexp), then the finished weights of one tile at a time
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    scaled = query * query.shape[-1] ** -0.5
    log_total = torch.full_like(scaled[..., :1], -torch.inf)
    for keys in key.split(tile, dim=-2):
        here = (scaled @ keys.transpose(-2, -1)).logsumexp(-1, keepdim=True)
        log_total = torch.logaddexp(log_total, here)
    output = None
    for keys, values in zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True):
        part = (scaled @ keys.transpose(-2, -1)).sub_(log_total).exp_() @ values
        output = part if output is None else output.add_(part)
    return output
