# %% [wrong] padding_is_not_masked | Keys and values are padded with zeros, and the zeros stay in the softmax with score 0. At both ends the weights of the real positions come out too small; the padding has to be masked first.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    d = query.shape[-1]
    k = F.pad(key, (0, 0, window, window)).unfold(-2, 2 * window + 1, 1)  # (..., n, d, 2w+1)
    v = F.pad(value, (0, 0, window, window)).unfold(-2, 2 * window + 1, 1)
    scores = torch.einsum("...nd,...ndw->...nw", query, k) / d**0.5
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("...nw,...ndw->...nd", weights, v)

# %% [wrong] band_mask_on_all_scores | All n × n scores are made and a band mask is laid over them. The numbers are right, but the text forbids any tensor of n × n numbers.
def sliding_window_attention(query, key, value, window):
    n = query.shape[-2]
    i = torch.arange(n, device=query.device)
    band = (i[:, None] - i[None, :]).abs() <= window
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores.masked_fill(~band, float("-inf"))
    return scores.softmax(-1) @ value

# %% [wrong] no_scaling_of_the_scores | The scores are not divided by the root of d. The weights are then too sharp, and the result is not that of dense attention under a band mask.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    outputs = []
    for i in range(n):
        lo, hi = max(0, i - window), min(n, i + window + 1)
        q = query[..., i : i + 1, :]
        w = torch.softmax(q @ key[..., lo:hi, :].transpose(-2, -1), dim=-1)
        outputs.append(w @ value[..., lo:hi, :])
    return torch.cat(outputs, dim=-2)

# %% [wrong] one_neighbour_short_on_the_right | The slice ends at i + window, which Python leaves out. Position i + window belongs to the window too: |i − j| ≤ window; here the right side has one neighbour less.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    scale = query.shape[-1] ** -0.5
    rows = []
    for i in range(query.size(-2)):
        around = slice(max(i - window, 0), max(i + window, i + 1))
        scores = (query[..., i, None, :] * key[..., around, :]).sum(-1) * scale
        rows.append((scores.softmax(-1)[..., None] * value[..., around, :]).sum(-2))
    return torch.stack(rows, -2)

# %% [wrong] result_written_into_a_new_tensor_of_numbers | Each weight is turned into a detached number before it meets the values. The output's numbers are right, but no gradient reaches query and key, and a model is to be trained through it.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    out = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype, device=query.device)
    for i in range(n):
        neighbours = [j for j in range(i - window, i + window + 1) if 0 <= j < n]
        scores = torch.stack([(query[..., i, :] * key[..., j, :]).sum(-1) for j in neighbours], -1)
        weights = torch.softmax(scores / d**0.5, -1).data
        for position, j in enumerate(neighbours):
            out[..., i, :] += weights[..., position, None] * value[..., j, :]
    return out

# %% [right] shifted_copies_one_per_offset | No unfold and no padding of the tensors by hand: for each offset from −window to window the keys are taken by an index that is clamped to the sequence, and offsets beyond the ends get −inf.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    offsets = torch.arange(-window, window + 1, device=query.device)
    where = torch.arange(n, device=query.device)[:, None] + offsets  # (n, 2w + 1)
    outside = (where < 0) | (where > n - 1)
    where = where.clamp(0, n - 1)
    columns = [(query * key[..., where[:, o], :]).sum(-1) for o in range(len(offsets))]
    scores = torch.stack(columns, dim=-1).div(d**0.5).masked_fill(outside, -torch.inf)
    weights = F.softmax(scores, dim=-1)
    total = 0
    for o in range(len(offsets)):
        total = total + weights[..., o, None] * value[..., where[:, o], :]
    return total
