# %% [wrong] root_of_the_windows_size | The scores are divided by the root of the number of neighbours, 2·window + 1, and not by the root of d.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, size = query.shape[-2], 2 * window + 1
    keys = F.pad(key, (0, 0, window, window)).unfold(-2, size, 1)  # (..., n, d, size)
    values = F.pad(value, (0, 0, window, window)).unfold(-2, size, 1)
    scores = torch.einsum("...nd,...nds->...ns", query, keys) / size**0.5
    place = torch.arange(n, device=query.device).unsqueeze(1) + torch.arange(-window, window + 1, device=query.device)
    scores = scores.masked_fill((place < 0) | (place >= n), float("-inf"))
    return torch.einsum("...ns,...nds->...nd", scores.softmax(-1), values)

# %% [wrong] ends_meet_in_a_ring | roll brings the keys of one end to the other, and nothing masks them: the first positions see the last ones.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    root = query.shape[-1] ** 0.5
    steps = range(-window, window + 1)
    scores = torch.stack([(query * key.roll(-step, dims=-2)).sum(-1) / root for step in steps], dim=-1)
    weights = torch.softmax(scores, dim=-1)
    return sum(weights[..., i, None] * value.roll(-step, dims=-2) for i, step in enumerate(steps))

# %% [wrong] slice_ends_one_too_early | The slice ends at i + window, which Python leaves out, so the farthest neighbour behind each position is not seen.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    rows = []
    for i in range(n):
        low, high = max(0, i - window), min(n, i + window)
        scores = query[..., i : i + 1, :] @ key[..., low:high, :].transpose(-2, -1) / d**0.5
        rows.append(F.softmax(scores, dim=-1) @ value[..., low:high, :])
    return torch.cat(rows, dim=-2)
