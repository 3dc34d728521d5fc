# %% [wrong] padding_not_masked | The padding is not masked: at both ends a key of zeros has the score 0, and takes its share of the weight.
def sliding_window_attention(query, key, value, window):
    d = query.shape[-1]
    size = 2 * window + 1
    k = F.pad(key, (0, 0, window, window)).unfold(-2, size, 1)      # (..., n, d, size)
    v = F.pad(value, (0, 0, window, window)).unfold(-2, size, 1)
    scores = torch.einsum("...nd,...ndw->...nw", query, k) / d ** 0.5
    weights = scores.softmax(-1)
    return torch.einsum("...nw,...ndw->...nd", weights, v)


# %% [wrong] dense_with_a_band | Right numbers, but by dense attention under a band mask: it makes tensors of n × n numbers, which is not allowed.
def sliding_window_attention(query, key, value, window):
    n = query.shape[-2]
    i = torch.arange(n, device=query.device)
    band = (i[:, None] - i[None, :]).abs() <= window
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return scores.masked_fill(~band, float("-inf")).softmax(-1) @ value


# %% [wrong] right_end_excluded | The slice ends at i + window, and a slice leaves its end out: the last neighbour is missing.
def sliding_window_attention(query, key, value, window):
    n, d = query.shape[-2:]
    out = []
    for i in range(n):
        a, b = max(0, i - window), min(n, max(i + window, i + 1))
        s = (query[..., i:i + 1, :] @ key[..., a:b, :].transpose(-2, -1)) / d ** 0.5
        out.append(torch.softmax(s, -1) @ value[..., a:b, :])
    return torch.cat(out, dim=-2)


# %% [wrong] looks_back_only | Each position sees the `window` positions before it and itself, and none behind it.
def sliding_window_attention(query, key, value, window):
    n, d = query.shape[-2:]
    results = []
    for i in range(n):
        near = slice(max(0, i - window), i + 1)
        scores = torch.einsum("...d,...jd->...j", query[..., i, :], key[..., near, :]) / d ** 0.5
        w = scores.softmax(dim=-1)
        results.append(torch.einsum("...j,...jd->...d", w, value[..., near, :]))
    return torch.stack(results, dim=-2)


# %% [wrong] root_forgotten | The scores are not divided by √d.
def sliding_window_attention(query, key, value, window):
    n = query.shape[-2]
    size = 2 * window + 1
    k = F.pad(key, (0, 0, window, window)).unfold(-2, size, 1)
    v = F.pad(value, (0, 0, window, window)).unfold(-2, size, 1)
    scores = (query.unsqueeze(-2) @ k).squeeze(-2)
    j = torch.arange(n, device=query.device)[:, None] + torch.arange(-window, window + 1, device=query.device)
    scores = scores.masked_fill((j < 0) | (j >= n), float("-inf"))
    return (v @ scores.softmax(-1).unsqueeze(-1)).squeeze(-1)


# %% [wrong] unfolded_axes_reshaped | `unfold` puts the window behind the width; it is reshaped, not transposed, to (window, width), which mixes up the numbers of the neighbours.
def sliding_window_attention(query, key, value, window):
    *lead, n, d = query.shape
    w = 2 * window + 1
    keys = F.pad(key, (0, 0, window, window)).unfold(-2, w, 1).reshape(*lead, n, w, d)
    values = F.pad(value, (0, 0, window, window)).unfold(-2, w, 1).reshape(*lead, n, w, value.shape[-1])
    scores = (keys * query.unsqueeze(-2)).sum(-1) / d ** 0.5
    place = torch.arange(n, device=query.device).unsqueeze(1) + torch.arange(w, device=query.device) - window
    scores = scores.masked_fill((place < 0) | (place >= n), -torch.inf)
    return (scores.softmax(-1).unsqueeze(-1) * values).sum(-2)


# %% [right] offset_by_offset | Goes over the 2 · window + 1 offsets, shifts keys and values with clamped indices, and keeps the running sums for all positions at once.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    here = torch.arange(n, device=query.device)
    rows = []
    for offset in range(-window, window + 1):
        there = here + offset
        score = (query * key[..., there.clamp(0, n - 1), :]).sum(-1) / d**0.5
        rows.append(score.masked_fill((there < 0) | (there >= n), -torch.inf))
    weights = torch.stack(rows, -1).softmax(-1)
    output = 0
    for offset, weight in zip(range(-window, window + 1), weights.unbind(-1)):
        output = output + weight.unsqueeze(-1) * value[..., (here + offset).clamp(0, n - 1), :]
    return output
