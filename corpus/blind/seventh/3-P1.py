# %% [wrong] padding_takes_part | The zeros that pad the keys are not masked before the softmax; their score is 0, exp(0) = 1, so at both ends they take weight away from real keys.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    width = 2 * window + 1
    keys = F.pad(key, (0, 0, window, window)).unfold(-2, width, 1)  # (..., n, d, width)
    values = F.pad(value, (0, 0, window, window)).unfold(-2, width, 1)
    scores = torch.einsum("...nd,...ndw->...nw", query, keys) / query.shape[-1] ** 0.5
    return torch.einsum("...nw,...nvw->...nv", scores.softmax(-1), values)

# %% [wrong] band_over_the_whole_matrix | All n × n scores are made and a band mask hides the far ones; the numbers are right, but no tensor of n × n numbers may be made.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    i = torch.arange(n, device=query.device)
    near = (i[:, None] - i[None, :]).abs() <= window
    scores = query @ key.transpose(-2, -1) / d**0.5
    weights = scores.masked_fill(~near, float("-inf")).softmax(-1)
    return weights @ value

# %% [wrong] end_not_included | The slice ends at i + window, which Python leaves out; it should be i + window + 1, so the last neighbour to the right is never seen.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    rows = []
    for i in range(n):
        lo, hi = max(0, i - window), min(n, max(i + window, i + 1))
        s = (key[..., lo:hi, :] @ query[..., i, :, None]).squeeze(-1) / d**0.5
        w = s.softmax(-1)
        rows.append((w.unsqueeze(-2) @ value[..., lo:hi, :]).squeeze(-2))
    return torch.stack(rows, dim=-2)

# %% [wrong] negative_start | For the first positions i − window is negative, and a slice then counts from the end: it is empty or holds other keys. max(0, i − window) is needed.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    output = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=value.dtype, device=value.device)
    for i in range(query.shape[-2]):
        near = slice(i - window, i + window + 1)
        scores = torch.einsum("...d,...kd->...k", query[..., i, :], key[..., near, :]) / query.shape[-1] ** 0.5
        output[..., i, :] = torch.einsum("...k,...kv->...v", scores.softmax(-1), value[..., near, :])
    return output

# %% [wrong] only_backwards | The window reaches back from i − window to i and not forward, as in a language model; positions up to i + window must be seen, too.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    out = []
    for i in range(n):
        start = max(0, i - window)
        k, v = key[..., start : i + 1, :], value[..., start : i + 1, :]
        scores = query[..., i : i + 1, :] @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
        out.append(scores.softmax(-1) @ v)
    return torch.cat(out, dim=-2)

# %% [wrong] window_as_the_whole_width | window is taken for the width of the whole window, so each side reaches only window // 2 far; neighbours up to `window` places away on each side are asked for.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    half = window // 2
    n, d = query.shape[-2:]
    width = 2 * half + 1
    keys = F.pad(key, (0, 0, half, half)).unfold(-2, width, 1)
    values = F.pad(value, (0, 0, half, half)).unfold(-2, width, 1)
    place = torch.arange(n, device=query.device)[:, None] + torch.arange(-half, half + 1, device=query.device)
    scores = torch.einsum("...nd,...ndw->...nw", query, keys) / d**0.5
    weights = scores.masked_fill((place < 0) | (place >= n), float("-inf")).softmax(-1)
    return torch.einsum("...nw,...nvw->...nv", weights, values)

# %% [right] shifted_copies | no padding: one shifted copy of the keys for each offset, and what was rolled over the ends is masked
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    place = torch.arange(n, device=query.device)
    offsets = range(-window, window + 1)
    scores = []
    for offset in offsets:
        fits = (query * key.roll(-offset, dims=-2)).sum(-1) / d**0.5
        outside = (place + offset < 0) | (place + offset >= n)
        scores.append(fits.masked_fill(outside, -torch.inf))
    weights = torch.stack(scores, dim=-1).softmax(-1)
    return sum(weights[..., i, None] * value.roll(-offset, dims=-2) for i, offset in enumerate(offsets))
