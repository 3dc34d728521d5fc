# %% [wrong] padding_not_masked | The padded neighbours at both ends are zero vectors with score 0 and stay in the softmax, because no mask is laid over them. Rows within `window` of an end lose weight to patches that do not exist, so they differ from dense band attention.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    d = query.shape[-1]
    k = F.pad(key, (0, 0, window, window)).unfold(-2, 2 * window + 1, 1)
    v = F.pad(value, (0, 0, window, window)).unfold(-2, 2 * window + 1, 1)
    scores = torch.einsum("...nd,...ndw->...nw", query, k) / d**0.5
    weights = scores.softmax(-1)
    return torch.einsum("...nw,...ndw->...nd", weights, v)


# %% [wrong] half_window_off_by_one | The loop goes over range(-window, window), which leaves out the offset +window. Position i sees 2·window neighbours instead of 2·window + 1, so |i − j| ≤ window is violated on one side.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    pos = torch.arange(n, device=query.device)
    scores, picked = [], []
    for offset in range(-window, window):
        j = pos + offset
        ok = (j >= 0) & (j < n)
        j = j.clamp(0, n - 1)
        s = (query * key[..., j, :]).sum(-1) / d**0.5
        scores.append(s.masked_fill(~ok, float("-inf")))
        picked.append(value[..., j, :])
    if not scores:
        return value.clone()
    w = torch.stack(scores, -1).softmax(-1)
    return (w.unsqueeze(-1) * torch.stack(picked, -2)).sum(-2)


# %% [wrong] dense_band_mask | Makes the full n × n matrix of scores and a band mask over it. The numbers are right, but the task forbids any tensor of n × n numbers; time and memory stay quadratic.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    i = torch.arange(n, device=query.device)
    band = (i[:, None] - i[None, :]).abs() <= window
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    scores = scores.masked_fill(~band, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value


# %% [wrong] loop_copies_into_data | Position by position over slices, but the rows are written through `.data` into a preallocated buffer. The values are right and the autograd graph is cut: the result does not require gradients and nothing reaches query, key and value.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2], query.shape[-1]
    out = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=value.dtype, device=value.device)
    for i in range(n):
        lo, hi = max(0, i - window), min(n, i + window + 1)
        q = query[..., i : i + 1, :]
        s = q @ key[..., lo:hi, :].transpose(-2, -1) / d**0.5
        row = s.softmax(-1) @ value[..., lo:hi, :]
        out.data[..., i : i + 1, :] = row.data
    return out


# %% [wrong] scale_from_unfolded_shape | Divides by the root of the last axis after unfold, which is the window's width 2·window + 1 and not d. The scores have the wrong temperature unless d happens to equal 2·window + 1.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    size = 2 * window + 1

    def neighbours(x):
        return F.pad(x, (0, 0, window, window)).unfold(-2, size, 1)  # (..., n, d, size)

    keys, values = neighbours(key), neighbours(value)
    scores = (query.unsqueeze(-2) @ keys).squeeze(-2) / keys.shape[-1] ** 0.5
    real = F.pad(torch.ones(n, dtype=torch.bool, device=query.device), (window, window)).unfold(0, size, 1)
    weights = scores.masked_fill(~real, -torch.inf).softmax(-1)
    return (values @ weights.unsqueeze(-1)).squeeze(-1)


# %% [right] index_table_gather | Builds a table (n, 2·window+1) of clamped neighbour indices and gathers keys and values by fancy indexing, instead of pad and unfold.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2], query.shape[-1]
    reach = min(window, n - 1)  # more neighbours than that do not exist
    table = torch.arange(n, device=query.device)[:, None] + torch.arange(-reach, reach + 1, device=query.device)
    outside = (table < 0) | (table >= n)
    table = table.clamp(0, n - 1)
    # one neighbour at a time for the scores, so that nothing larger than (..., n, 2w+1) is kept twice
    scores = torch.stack([(query * key[..., column, :]).sum(-1) for column in table.T], dim=-1) * d**-0.5
    weights = scores.masked_fill(outside, float("-inf")).softmax(dim=-1)
    result = 0
    for step, column in enumerate(table.T):
        result = result + weights[..., step, None] * value[..., column, :]
    return result
