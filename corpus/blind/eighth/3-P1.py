# %% [wrong] slice_from_below_zero | The neighbours are cut out as key[i − window : …], and for i < window the start is negative, which counts from the end; it should be max(0, i − window). The first rows get empty slices, whose output is zeros, or wrong neighbours.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    rows = []
    for i in range(query.shape[-2]):
        near = slice(i - window, i + window + 1)
        scores = query[..., i : i + 1, :] @ key[..., near, :].transpose(-2, -1) / query.shape[-1] ** 0.5
        rows.append(scores.softmax(-1) @ value[..., near, :])
    return torch.cat(rows, dim=-2)

# %% [wrong] end_of_the_slice | The slice ends at i + window, which is left out; it should end at i + window + 1. The farthest key on the right is missing for every position.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]

    def look(i):
        start, end = max(0, i - window), max(i + 1, min(n, i + window))
        scores = query[..., i : i + 1, :] @ key[..., start:end, :].mT / d**0.5
        return scores.softmax(dim=-1) @ value[..., start:end, :]

    return torch.cat([look(i) for i in range(n)], dim=-2)

# %% [wrong] round_the_corner | The shifted keys are made with torch.roll and nothing is masked, so the first positions see the last ones; the window should end at the border.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    shifts = range(-window, window + 1)
    scale = query.shape[-1] ** -0.5
    scores = torch.stack([(query * key.roll(-shift, dims=-2)).sum(-1) * scale for shift in shifts], dim=-1)
    weights = scores.softmax(-1)
    return sum(weights[..., k, None] * value.roll(-shift, dims=-2) for k, shift in enumerate(shifts))

# %% [wrong] window_as_the_whole_width | window is taken for the width of the whole window, half of it on each side; it reaches that far to each side. Position i sees |i − j| ≤ window // 2.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    half = window // 2
    n, width = query.shape[-2], 2 * half + 1
    keys = F.pad(key, (0, 0, half, half)).unfold(-2, width, 1)  # (..., n, d, width)
    values = F.pad(value, (0, 0, half, half)).unfold(-2, width, 1)
    scores = torch.einsum("...nd,...ndw->...nw", query, keys) / query.shape[-1] ** 0.5
    place = torch.arange(n, device=query.device)[:, None] + torch.arange(-half, half + 1, device=query.device)
    scores = scores.masked_fill((place < 0) | (place >= n), float("-inf"))
    return torch.einsum("...nw,...ndw->...nd", scores.softmax(-1), values)

# %% [wrong] padding_takes_its_share | The padding is not masked before the softmax; its keys are zeros, and exp(0) = 1. Near both ends the padding takes part of the weight, and the rows of real weights sum to less than 1.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    around = (0, 0, window, window)
    keys, values = (F.pad(side, around).unfold(-2, 2 * window + 1, 1) for side in (key, value))
    scores = (query.unsqueeze(-2) @ keys).squeeze(-2) * query.shape[-1] ** -0.5  # (..., n, 2·window + 1)
    weights = torch.softmax(scores, dim=-1)
    return (values @ weights.unsqueeze(-1)).squeeze(-1)

# %% [wrong] dense_under_a_band | All n × n scores are made and then masked with a band; the numbers are right, but no tensor of n × n numbers may be made. Nothing is saved.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    place = torch.arange(query.shape[-2], device=query.device)
    far = (place[:, None] - place).abs() > window
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(far, float("-inf")).softmax(-1)
    return weights @ value

# %% [right] one_distance_after_the_other | A loop over the distances −window … window: each gives one column of scores and, after the softmax, one weighted copy of the shifted values; every tensor is (..., n, d) or (..., n, 2·window + 1).
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    keys, values = (F.pad(side, (0, 0, window, window)) for side in (key, value))
    place, columns = torch.arange(n, device=query.device), []
    for shift in range(2 * window + 1):
        there = place + shift - window
        column = (query * keys[..., shift : shift + n, :]).sum(-1) / query.shape[-1] ** 0.5
        columns.append(column.masked_fill((there < 0) | (there >= n), float("-inf")))
    weights = torch.stack(columns, dim=-1).softmax(dim=-1)
    output = torch.zeros_like(value)
    for shift, weight in enumerate(weights.unbind(-1)):
        output = output + weight.unsqueeze(-1) * values[..., shift : shift + n, :]
    return output
