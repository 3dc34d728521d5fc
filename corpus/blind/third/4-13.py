# %% [wrong] sum_not_shrunk | Scales the total when a larger score appears, but forgets to scale the sum with the values.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = query.new_full((*query.shape[:-1], 1), -torch.inf)
    total, mixed = torch.zeros_like(largest), query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, key.shape[-2], tile):
        part = slice(start, start + tile)
        scores = query @ key[..., part, :].transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        weights = (scores - new).exp()
        total = total * (largest - new).exp() + weights.sum(-1, keepdim=True)
        mixed = mixed + weights @ value[..., part, :]
        largest = new
    return mixed / total

# %% [wrong] rest_left_out | Goes over S // tile whole tiles only; keys that do not fill a last tile are left out.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    d, S = query.shape[-1], key.shape[-2]
    m = torch.full_like(query[..., :1], -torch.inf)
    total = torch.zeros_like(m)
    out = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype, device=query.device)
    for t in range(max(S // tile, 1)):
        k, v = key[..., t * tile : (t + 1) * tile, :], value[..., t * tile : (t + 1) * tile, :]
        s = torch.einsum("...td,...sd->...ts", query, k) * d**-0.5
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        shrink, w = torch.exp(m - m_new), torch.exp(s - m_new)
        total, out, m = total * shrink + w.sum(-1, keepdim=True), out * shrink + w @ v, m_new
    return out / total

# %% [wrong] mean_of_softmaxes | Does a softmax within each tile and averages the outputs of the tiles: a tile with small scores counts as much as any other.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    outputs = []
    for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        weights = torch.softmax(query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
        outputs.append(weights @ v)
    return torch.stack(outputs).mean(0)

# %% [wrong] scores_of_all_tiles_kept | Computes tile by tile, but keeps all scores in a list for the softmax: together they are T × S numbers.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    scale = query.shape[-1] ** -0.5
    keys, values = key.split(tile, -2), value.split(tile, -2)
    scores = [query @ k.transpose(-2, -1) * scale for k in keys]
    largest = torch.stack([s.amax(-1) for s in scores]).amax(0).unsqueeze(-1)
    powers = [(s - largest).exp() for s in scores]
    total = sum(p.sum(-1, keepdim=True) for p in powers)
    return sum(p @ v for p, v in zip(powers, values)) / total

# %% [wrong] no_maximum | Keeps no largest score and takes exp of the scores as they are: large scores overflow to ∞/∞.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    total = mixed = 0.0
    for start in range(0, key.shape[-2], tile):
        k = key[..., start : start + tile, :]
        v = value[..., start : start + tile, :]
        weights = torch.exp(query @ k.mT / query.shape[-1] ** 0.5)
        total = total + weights.sum(dim=-1, keepdim=True)
        mixed = mixed + weights @ v
    return mixed / total

# %% [wrong] old_largest_updated_too_early | Overwrites the largest score before the factor is computed, so the factor is always 1 and nothing is corrected.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    largest = query.new_full(query.shape[:-1], float("-inf")).unsqueeze(-1)
    total = torch.zeros_like(largest)
    mixed = 0
    for k, v in zip(torch.split(key, tile, dim=-2), torch.split(value, tile, dim=-2)):
        scores = query @ k.transpose(-1, -2) / query.shape[-1] ** 0.5
        new_largest = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        largest = new_largest
        shrink = (largest - new_largest).exp()
        weights = (scores - largest).exp()
        total = shrink * total + weights.sum(dim=-1, keepdim=True)
        mixed = shrink * mixed + weights @ v
    return mixed / total

# %% [right] blend_by_logsumexp | Keeps a finished output and the logsumexp so far, and blends in each tile's own output by the share of its logsumexp.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    scaled = query * query.shape[-1] ** -0.5
    output = so_far = None
    for start in range(0, key.shape[-2], tile):
        stop = min(start + tile, key.shape[-2])
        scores = torch.einsum("...td,...sd->...ts", scaled, key[..., start:stop, :])
        size = scores.logsumexp(-1, keepdim=True)
        here = torch.einsum("...ts,...sv->...tv", (scores - size).exp(), value[..., start:stop, :])
        del scores
        if output is None:
            output, so_far = here, size
            continue
        together = torch.logaddexp(so_far, size)
        output = output * (so_far - together).exp() + here * (size - together).exp()
        so_far = together
    return output
