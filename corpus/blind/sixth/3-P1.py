# %% [wrong] padding_seen | The zeros of the padding are not masked before the softmax: at the ends, positions give weight to keys of zeros (score 0) that do not exist
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    size = 2 * window + 1
    k = F.pad(key, (0, 0, window, window)).unfold(-2, size, 1)      # (..., n, d, size)
    v = F.pad(value, (0, 0, window, window)).unfold(-2, size, 1)
    scores = torch.einsum("...nd,...ndw->...nw", query, k) / query.shape[-1] ** 0.5
    return torch.einsum("...nw,...ndw->...nd", scores.softmax(-1), v)

# %% [wrong] wraps_around | The neighbours are fetched modulo n (a ring), so the first positions see the last ones; beyond the ends there is nothing, and it should be masked
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    shifts = range(-window, window + 1)
    scores = torch.stack([(query * key.roll(-s, dims=-2)).sum(-1) for s in shifts], dim=-1)
    weights = (scores / query.shape[-1] ** 0.5).softmax(dim=-1)
    out = 0
    for i, s in enumerate(shifts):
        out = out + weights[..., i:i + 1] * value.roll(-s, dims=-2)
    return out

# %% [wrong] only_backwards | The window reaches from i − window to i alone, as in a causal model; |i − j| ≤ window means both sides
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, size = query.shape[-2], window + 1
    k = F.pad(key, (0, 0, window, 0)).unfold(-2, size, 1)
    v = F.pad(value, (0, 0, window, 0)).unfold(-2, size, 1)
    scores = torch.einsum("...nd,...ndw->...nw", query, k) * query.shape[-1] ** -0.5
    j = torch.arange(n, device=query.device)[:, None] + torch.arange(-window, 1, device=query.device)
    weights = scores.masked_fill(j < 0, float("-inf")).softmax(-1)
    return torch.einsum("...nw,...ndw->...nd", weights, v)

# %% [wrong] band_mask | All n × n scores are made and a band mask laid over them: the numbers are right, but no tensor of n × n numbers may be made
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    i = torch.arange(n, device=query.device)
    band = (i[:, None] - i).abs() <= window
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return scores.masked_fill(~band, float("-inf")).softmax(-1) @ value

# %% [wrong] window_as_width | window is taken for the whole width: each side gets window // 2 positions instead of window
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    half, n = window // 2, query.shape[-2]
    kk = F.pad(key, (0, 0, half, half)).unfold(-2, 2 * half + 1, 1)
    vv = F.pad(value, (0, 0, half, half)).unfold(-2, 2 * half + 1, 1)
    scores = torch.einsum("...nd,...ndw->...nw", query, kk) / query.shape[-1] ** 0.5
    place = torch.arange(n, device=query.device)[:, None] + torch.arange(-half, half + 1, device=query.device)
    scores = scores.masked_fill((place < 0) | (place >= n), float("-inf"))
    return torch.einsum("...nw,...ndw->...nd", scores.softmax(-1), vv)

# %% [wrong] scale_from_unfolded | The scores are divided by the root of k.shape[-1], which after unfold is the window's size 2 · window + 1 and not the width d
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    size, n = 2 * window + 1, query.shape[-2]
    k, v = (F.pad(x, (0, 0, window, window)).unfold(-2, size, 1) for x in (key, value))
    scores = (query.unsqueeze(-2) @ k).squeeze(-2) / k.shape[-1] ** 0.5
    j = torch.arange(n, device=query.device)[:, None] + torch.arange(size, device=query.device) - window
    weights = torch.where((j >= 0) & (j < n), scores, torch.full_like(scores, float("-inf"))).softmax(-1)
    return (v @ weights.unsqueeze(-1)).squeeze(-1)

# %% [right] shift_by_shift | a column of scores for each offset, written into a tensor of −∞ by slices; nothing is padded
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    lead = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    offsets = [offset for offset in range(-window, window + 1) if abs(offset) < n]
    spans = [(slice(max(0, -o), n - max(0, o)), slice(max(0, o), n - max(0, -o))) for o in offsets]
    columns = []
    for asks, answers in spans:
        column = query.new_full((*lead, n), float("-inf"))
        column[..., asks] = (query[..., asks, :] * key[..., answers, :]).sum(-1)
        columns.append(column / query.shape[-1] ** 0.5)
    weights = torch.stack(columns, dim=-1).softmax(dim=-1)
    output = torch.zeros((*lead, n, value.shape[-1]), dtype=value.dtype, device=value.device)
    for index, (asks, answers) in enumerate(spans):
        output[..., asks, :] += weights[..., asks, index, None] * value[..., answers, :]
    return output
