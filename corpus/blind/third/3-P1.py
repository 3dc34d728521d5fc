# %% [wrong] dense_band | Makes the full n × n scores and masks all but a band: the numbers are right, but no n × n tensor may be made.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    i = torch.arange(n, device=query.device)
    band = (i[:, None] - i).abs() <= window
    scores = (query @ key.transpose(-1, -2) / d**0.5).masked_fill(~band, -torch.inf)
    return scores.softmax(-1) @ value

# %% [wrong] padding_gets_weight | Pads with zeros and does not mask them: near the ends the padding's score of 0 takes weight away.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    size = 2 * window + 1
    keys = F.pad(key, (0, 0, window, window)).unfold(-2, size, 1)  # (..., n, d, size)
    values = F.pad(value, (0, 0, window, window)).unfold(-2, size, 1)
    scores = torch.einsum("...nd,...ndw->...nw", query, keys) / query.shape[-1] ** 0.5
    return torch.einsum("...nw,...ndw->...nd", scores.softmax(-1), values)

# %% [wrong] looks_back_only | The window lies before each position only, as in a language model; it should reach to both sides.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    outputs = []
    for i in range(query.shape[-2]):
        near = slice(max(0, i - window), i + 1)
        scores = (query[..., i : i + 1, :] * key[..., near, :]).sum(-1) / query.shape[-1] ** 0.5
        outputs.append((scores.softmax(-1).unsqueeze(-1) * value[..., near, :]).sum(-2))
    return torch.stack(outputs, dim=-2)

# %% [wrong] last_neighbour_missing | The slice ends at i + window and leaves out position i + window itself, an off-by-one.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2], query.shape[-1]
    rows = []
    for i in range(n):
        start, stop = max(i - window, 0), min(max(i + window, i + 1), n)
        scores = torch.einsum("...d,...kd->...k", query[..., i, :], key[..., start:stop, :]) * d**-0.5
        rows.append(torch.einsum("...k,...kd->...d", scores.softmax(-1), value[..., start:stop, :]))
    return torch.stack(rows, -2)

# %% [wrong] unscaled_window | The scores are not divided by √d, so the result is not that of attention under a band mask.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    offsets = torch.arange(-window, window + 1, device=query.device)
    index = torch.arange(n, device=query.device)[:, None] + offsets
    inside = (index >= 0) & (index < n)
    index = index.clamp(0, n - 1)
    scores = (query.unsqueeze(-2) * key[..., index, :]).sum(-1).masked_fill(~inside, -torch.inf)
    return (scores.softmax(-1).unsqueeze(-1) * value[..., index, :]).sum(-2)

# %% [wrong] one_end_padded | Pads by 2 · window at the front alone and masks accordingly: the windows are shifted and lie before each position.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    size = 2 * window + 1
    padded_key = F.pad(key, (0, 0, 2 * window, 0)).unfold(-2, size, 1)
    padded_value = F.pad(value, (0, 0, 2 * window, 0)).unfold(-2, size, 1)
    real = F.pad(torch.ones(n, dtype=torch.bool, device=key.device), (2 * window, 0)).unfold(0, size, 1)
    scores = (query.unsqueeze(-2) @ padded_key).squeeze(-2) / d**0.5
    weights = scores.masked_fill(~real, -torch.inf).softmax(-1)
    return (padded_value @ weights.unsqueeze(-1)).squeeze(-1)

# %% [right] rolled_offsets | One pass for each offset from −window to window with roll and a mask of the positions that exist; two sums instead of a softmax call.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    position = torch.arange(n, device=query.device)
    scores, exists = [], []
    for offset in range(-window, window + 1):
        there = position + offset
        exists.append((there >= 0) & (there < n))
        scores.append((query * key.roll(-offset, dims=-2)).sum(-1) * d**-0.5)
    scores = torch.stack(scores, dim=-1).masked_fill(~torch.stack(exists, dim=-1), -torch.inf)
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    total = weights.sum(-1, keepdim=True)
    output = 0
    for place, offset in enumerate(range(-window, window + 1)):
        output = output + weights[..., place : place + 1] * value.roll(-offset, dims=-2)
    return output / total
