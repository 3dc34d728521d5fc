# %% [wrong] last_tile_lost | The loop goes over `S // tile` whole tiles: where tile does not divide S, the keys that are left over are never looked at.
def tiled_attention(query, key, value, tile):
    S = key.shape[-2]
    largest = torch.full_like(query[..., :1], -torch.inf)
    total = torch.zeros_like(largest)
    mixed = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype, device=query.device)
    for i in range(S // tile):
        k = key[..., i * tile : (i + 1) * tile, :]
        v = value[..., i * tile : (i + 1) * tile, :]
        scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        w = (scores - new).exp()
        total = total * shrink + w.sum(-1, keepdim=True)
        mixed = mixed * shrink + w @ v
        largest = new
    return mixed / total


# %% [wrong] total_not_shrunk | Only the sum with the values is corrected when a larger score appears; the total is not.
def tiled_attention(query, key, value, tile):
    root = query.shape[-1] ** 0.5
    largest, total, acc = None, 0, 0
    for k, v in zip(key.split(tile, -2), value.split(tile, -2)):
        scores = query @ k.transpose(-2, -1) / root
        top = scores.amax(-1, keepdim=True)
        new = top if largest is None else torch.maximum(largest, top)
        shrink = 0 if largest is None else torch.exp(largest - new)
        weights = torch.exp(scores - new)
        acc = acc * shrink + weights @ v
        total = total + weights.sum(-1, keepdim=True)
        largest = new
    return acc / total


# %% [wrong] mean_of_tile_softmaxes | A softmax of its own for each tile, and the mean of the outputs: tiles with large scores count no more than others.
def tiled_attention(query, key, value, tile):
    outs = []
    for start in range(0, key.shape[-2], tile):
        k = key[..., start:start + tile, :]
        v = value[..., start:start + tile, :]
        w = torch.softmax(query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
        outs.append(w @ v)
    return torch.stack(outs).mean(0)


# %% [wrong] keeps_every_tile | Keeps the scores of all tiles in a list for a second round: T × S numbers in several tensors, which is just what is forbidden.
def tiled_attention(query, key, value, tile):
    d = query.shape[-1]
    keys, values = key.split(tile, dim=-2), value.split(tile, dim=-2)
    scores = [query @ k.transpose(-2, -1) / d ** 0.5 for k in keys]
    largest = torch.stack([s.amax(-1, keepdim=True) for s in scores]).amax(0)
    exps = [(s - largest).exp() for s in scores]
    total = sum(e.sum(-1, keepdim=True) for e in exps)
    return sum(e @ v for e, v in zip(exps, values)) / total


# %% [wrong] shrink_upside_down | The correction is exp(new − old), the wrong way round: the sums grow where they should shrink.
def tiled_attention(query, key, value, tile):
    *lead, T, d = query.shape
    largest = query.new_full((*lead, T, 1), -torch.inf)
    total = query.new_zeros((*lead, T, 1))
    output = query.new_zeros((*lead, T, value.shape[-1]))
    for begin in range(0, key.shape[-2], tile):
        part = slice(begin, begin + tile)
        scores = query @ key[..., part, :].transpose(-2, -1) / d ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        if begin > 0:
            grow = torch.exp(new - largest)
            total, output = total * grow, output * grow
        weights = torch.exp(scores - new)
        total = total + weights.sum(-1, keepdim=True)
        output = output + weights @ value[..., part, :]
        largest = new
    return output / total


# %% [wrong] root_missing | The scores are not divided by √d.
def tiled_attention(query, key, value, tile):
    largest = torch.full(query.shape[:-1] + (1,), -torch.inf, dtype=query.dtype, device=query.device)
    total, summed = 0.0, 0.0
    for k, v in zip(torch.split(key, tile, -2), torch.split(value, tile, -2)):
        s = torch.einsum("...td,...sd->...ts", query, k)
        m = torch.maximum(largest, s.max(-1, keepdim=True).values)
        c, e = torch.exp(largest - m), torch.exp(s - m)
        total = c * total + e.sum(-1, keepdim=True)
        summed = c * summed + torch.einsum("...ts,...sv->...tv", e, v)
        largest = m
    return summed / total


# %% [right] running_mean_by_logsumexp | Keeps no separate sums: the output so far and the log of its total, and each tile is mixed in with the share that a sigmoid gives it.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    asked = query / query.shape[-1] ** 0.5
    mean = log_total = None
    for keys, values in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        scores = asked @ keys.transpose(-2, -1)
        log_here = scores.logsumexp(-1, keepdim=True)
        here = (scores - log_here).exp() @ values
        if mean is None:
            mean, log_total = here, log_here
        else:
            share = torch.sigmoid(log_here - log_total)
            mean = mean + share * (here - mean)
            log_total = torch.logaddexp(log_total, log_here)
        del scores
    return mean
