# %% [wrong] padding_gets_weight | the zero vectors that pad the keys are not masked: their score is 0, not -inf, so at both ends of the sequence they take a share of the softmax and the rows there come out too small
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    width = 2 * window + 1
    keys = F.pad(key, (0, 0, window, window)).unfold(-2, width, 1)      # (..., n, d, width)
    values = F.pad(value, (0, 0, window, window)).unfold(-2, width, 1)  # (..., n, d_v, width)
    scores = torch.einsum("...nd,...ndw->...nw", query, keys) / query.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    return torch.einsum("...nw,...ndw->...nd", weights, values)


# %% [wrong] slice_end_excluded | Python slices exclude their end: key[i-window : i+window] stops at i+window-1, so the farthest neighbour ahead is missing for every position (with window 0 the slice is even empty)
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    rows = []
    for i in range(n):
        start, end = max(0, i - window), min(n, i + window)
        k, v = key[..., start:end, :], value[..., start:end, :]
        s = (k @ query[..., i, :].unsqueeze(-1)).squeeze(-1) / d**0.5
        w = torch.softmax(s, dim=-1)
        rows.append((w.unsqueeze(-1) * v).sum(-2))
    return torch.stack(rows, dim=-2)


# %% [wrong] roll_wraps_around | torch.roll moves the sequence in a circle and nothing masks the wrap: the first positions see the last ones and the other way round (and with a window over half of n, some keys are counted twice)
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    offsets = range(-window, window + 1)
    scale = query.size(-1) ** -0.5

    def neighbour(x, o):
        return x.roll(-o, dims=-2)

    scores = torch.stack([(query * neighbour(key, o)).sum(-1) * scale for o in offsets], dim=-1)
    weights = scores.softmax(dim=-1)
    out = 0
    for k, o in enumerate(offsets):
        out = out + weights[..., k : k + 1] * neighbour(value, o)
    return out


# %% [wrong] data_cuts_gradient | the padded buffers are filled from key.data and value.data, which are outside the graph: the numbers are right, but no gradient reaches keys and values
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2], query.shape[-1]

    def padded(x):
        big = torch.zeros(*x.shape[:-2], n + 2 * window, x.shape[-1], dtype=x.dtype, device=x.device)
        big[..., window : window + n, :] = x.data
        return big

    where = torch.arange(n, device=query.device)[:, None] + torch.arange(2 * window + 1, device=query.device)
    inside = (where >= window) & (where < window + n)
    near_keys, near_values = padded(key)[..., where, :], padded(value)[..., where, :]  # (..., n, w, d)
    scores = (near_keys @ query.unsqueeze(-1)).squeeze(-1) / d**0.5
    weights = scores.masked_fill(~inside, float("-inf")).softmax(-1)
    return (weights.unsqueeze(-2) @ near_values).squeeze(-2)


# %% [wrong] band_mask_dense | computes the full score matrix and a band mask: the right numbers, but two tensors of n x n are made, which is what the exercise forbids; memory grows with n squared
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    pos = torch.arange(n, device=query.device)
    band = (pos[:, None] - pos[None, :]).abs() <= window
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores.masked_fill(~band, float("-inf"))
    return scores.softmax(dim=-1) @ value


# %% [right] diagonals | no unfold: one diagonal of the score matrix after the other, each padded with -inf to length n
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    reach = min(window, n - 1)
    diagonals = []
    for o in range(-reach, reach + 1):
        lo, hi = max(0, -o), n - max(0, o)  # the positions i for which i + o exists
        s = (query[..., lo:hi, :] * key[..., lo + o : hi + o, :]).sum(-1) / d**0.5
        diagonals.append(F.pad(s, (lo, n - hi), value=float("-inf")))
    weights = torch.stack(diagonals, -1).softmax(-1)
    output = torch.zeros_like(value)
    for column, o in enumerate(range(-reach, reach + 1)):
        lo, hi = max(0, -o), n - max(0, o)
        part = weights[..., lo:hi, column, None] * value[..., lo + o : hi + o, :]
        output = output + F.pad(part, (0, 0, lo, n - hi))
    return output
