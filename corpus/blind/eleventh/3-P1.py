# %% [wrong] padding_takes_part | The padding is never masked. Its keys are zeros, so its scores are 0 and not −∞, and the positions near both ends give a part of their weight to padding; in the middle all is right.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    size = 2 * window + 1
    k = F.pad(key, (0, 0, window, window)).unfold(-2, size, 1)       # (..., n, d, size)
    v = F.pad(value, (0, 0, window, window)).unfold(-2, size, 1)     # (..., n, d_v, size)
    scores = torch.einsum("...nd,...nds->...ns", query, k) / query.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    return torch.einsum("...ns,...nvs->...nv", weights, v)

# %% [wrong] looks_back_only | The window of large language models: position i sees i − window to i and nothing behind itself. The text wants neighbours on both sides, up to a distance of `window`, so every position but the last misses up to `window` neighbours.
def sliding_window_attention(query, key, value, window):
    n, d = query.shape[-2:]
    rows = []
    for i in range(n):
        start = max(0, i - window)
        k, v = key[..., start : i + 1, :], value[..., start : i + 1, :]
        s = (query[..., i : i + 1, :] @ k.transpose(-2, -1)) / d**0.5
        rows.append(torch.softmax(s, dim=-1) @ v)
    return torch.cat(rows, dim=-2)

# %% [wrong] dense_with_a_band | All n × n scores are made, and a band mask then hides those that are too far. The numbers are right, but the text forbids a tensor of n × n numbers, and nothing is saved.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    """Attention to positions at most `window` away."""
    n = query.shape[-2]
    place = torch.arange(n, device=query.device)
    near = (place[:, None] - place[None, :]).abs() <= window
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~near, float("-inf")), dim=-1)
    return weights @ value

# %% [wrong] weights_without_gradient | The weights are computed inside torch.no_grad(), to save memory. The numbers are right, but no gradient reaches query and key; the text wants gradients to reach all three.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    size = 2 * window + 1
    pad = (0, 0, window, window)
    with torch.no_grad():  # (n, size) is enough for us, no graph needed
        keys = F.pad(key, pad).unfold(-2, size, 1)
        scores = (query.unsqueeze(-2) @ keys).squeeze(-2) / d**0.5
        j = torch.arange(n, device=query.device)[:, None] + torch.arange(size, device=query.device) - window
        scores = scores.masked_fill((j < 0) | (j >= n), float("-inf"))
        weights = scores.softmax(-1)
    values = F.pad(value, pad).unfold(-2, size, 1)
    return (values @ weights.unsqueeze(-1)).squeeze(-1)

# %% [wrong] reshapes_the_windows | unfold puts the window behind the width, (..., n, d, size). Here the two axes are brought into order by reshape instead of transpose, so numbers of different neighbours are mixed up in every window, of the keys and of the values.
def sliding_window_attention(query, key, value, window):
    *lead, n, d = query.shape
    W = 2 * window + 1
    def windows(x):
        padded = F.pad(x, (0, 0, window, window))
        return padded.unfold(-2, W, 1).reshape(*lead, n, W, x.shape[-1])
    real = windows(torch.ones_like(key[..., :1])).squeeze(-1) > 0     # (..., n, W)
    scores = (windows(key) * query.unsqueeze(-2)).sum(-1) / d ** 0.5
    scores = scores.masked_fill(~real, -torch.inf)
    weights = scores.softmax(-1)
    return (weights.unsqueeze(-1) * windows(value)).sum(-2)

# %% [right] one_offset_after_the_other | A loop over the 2·window + 1 offsets instead of over windows: each shifts keys and values by one more place, gives one column of scores, and the values are added up offset by offset.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    place = torch.arange(n, device=query.device)
    shifts = range(-window, window + 1)
    keys = F.pad(key, (0, 0, window, window))
    values = F.pad(value, (0, 0, window, window))
    columns = []
    for shift in shifts:
        there = place + shift
        column = (query * keys.narrow(-2, window + shift, n)).sum(-1) * d**-0.5
        columns.append(torch.where((there >= 0) & (there < n), column, -torch.inf))
    weights = torch.stack(columns, dim=-1).softmax(dim=-1)
    mixed = 0
    for index, shift in enumerate(shifts):
        mixed = mixed + weights[..., index, None] * values.narrow(-2, window + shift, n)
    return mixed
