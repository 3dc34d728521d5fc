# %% [wrong] padding_not_masked | keys and values are padded with zeros and the padding is not masked: at both ends the scores 0 of places that do not exist take a share of the weight
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    size = 2 * window + 1
    keys = F.pad(key, (0, 0, window, window)).unfold(-2, size, 1)  # (..., n, d, size)
    values = F.pad(value, (0, 0, window, window)).unfold(-2, size, 1)
    scores = (query.unsqueeze(-2) @ keys).squeeze(-2) / query.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    return (values @ weights.unsqueeze(-1)).squeeze(-1)

# %% [wrong] looks_back_only | each position sees the window places before it and itself, as a causal window would; the places after it, j up to i + window, are missing
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    rows = []
    for i in range(n):
        near = slice(max(0, i - window), i + 1)
        scores = query[..., i : i + 1, :] @ key[..., near, :].transpose(-2, -1) / d**0.5
        rows.append(torch.softmax(scores, dim=-1) @ value[..., near, :])
    return torch.cat(rows, dim=-2)

# %% [wrong] one_short_on_the_right | the slice ends at i + window, which Python leaves out, so |i − j| = window is allowed to the left and not to the right; it should end at i + window + 1
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    outputs = []
    for i in range(n):
        lo, hi = max(0, i - window), min(n, max(i + window, i + 1))
        s = (query[..., i, None, :] * key[..., lo:hi, :]).sum(-1) / query.shape[-1] ** 0.5
        w = s.softmax(dim=-1)
        outputs.append((w.unsqueeze(-1) * value[..., lo:hi, :]).sum(-2))
    return torch.stack(outputs, dim=-2)

# %% [wrong] full_matrix | the scores of all n × n pairs are made and a band mask laid over them; the numbers are right, but no n × n tensor may be made
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    place = torch.arange(n, device=query.device)
    band = (place[:, None] - place[None, :]).abs() <= window
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return scores.masked_fill(~band, float("-inf")).softmax(-1) @ value

# %% [wrong] wraps_around | the neighbours are taken modulo n, so the first position sees the last ones and the other way round; places beyond the ends should be hidden
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2], query.shape[-1]
    offsets = torch.arange(-window, window + 1, device=query.device)
    index = (torch.arange(n, device=query.device)[:, None] + offsets) % n
    scores = torch.einsum("...nd,...nwd->...nw", query, key[..., index, :]) / d**0.5
    return torch.einsum("...nw,...nwd->...nd", torch.softmax(scores, -1), value[..., index, :])

# %% [wrong] unscaled | the scores are not divided by √d, so the weights are sharper than those of dense attention under the band mask
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    place = torch.arange(n, device=query.device)[:, None] + torch.arange(-window, window + 1, device=query.device)
    inside = (place >= 0) & (place < n)
    place = place.clamp(0, n - 1)
    scores = (query.unsqueeze(-2) * key[..., place, :]).sum(-1)
    weights = scores.masked_fill(~inside, -torch.inf).softmax(-1)
    return (weights.unsqueeze(-1) * value[..., place, :]).sum(-2)

# %% [right] clamped_index | every position gets the indices of its neighbours, clamped to the sequence, and what was clamped is hidden before the softmax
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    here = torch.arange(n, device=query.device).unsqueeze(-1)
    near = here + torch.arange(-window, window + 1, device=query.device)
    outside = (near < 0) | (near >= n)
    near = near.clamp(min=0, max=n - 1)
    scores = torch.einsum("...nd,...nwd->...nw", query, key[..., near, :]) * query.shape[-1] ** -0.5
    weights = scores.masked_fill(outside, -torch.inf).softmax(dim=-1)
    return torch.einsum("...nw,...nwd->...nd", weights, value[..., near, :])
