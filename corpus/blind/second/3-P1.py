# %% [right] gathered_neighbours | right
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    offsets = torch.arange(-window, window + 1, device=query.device)
    neighbour = torch.arange(n, device=query.device).unsqueeze(1) + offsets
    exists = (neighbour >= 0) & (neighbour < n)
    neighbour = neighbour.clamp(0, n - 1)
    near_keys, near_values = key[..., neighbour, :], value[..., neighbour, :]
    scores = (query.unsqueeze(-2) * near_keys).sum(-1) / d**0.5
    weights = scores.masked_fill(~exists, float("-inf")).softmax(-1)
    return (weights.unsqueeze(-2) @ near_values).squeeze(-2)

# %% [wrong] padding_not_masked | The zero padding at both ends is not masked before the softmax, so it takes weight away at the edges.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    keys = F.pad(key, (0, 0, window, window)).unfold(-2, 2 * window + 1, 1)
    values = F.pad(value, (0, 0, window, window)).unfold(-2, 2 * window + 1, 1)
    scores = (query.unsqueeze(-2) @ keys).squeeze(-2) / d**0.5
    weights = scores.softmax(-1)
    return (values @ weights.unsqueeze(-1)).squeeze(-1)

# %% [wrong] edges_repeated | Neighbours outside the sequence are clamped to the edge and not masked, so the first and last position count several times.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    neighbour = torch.arange(n, device=query.device)[:, None] + torch.arange(-window, window + 1, device=query.device)
    neighbour = neighbour.clamp(0, n - 1)
    scores = torch.einsum("...nd,...nwd->...nw", query, key[..., neighbour, :]) / d**0.5
    weights = scores.softmax(-1)
    return torch.einsum("...nw,...nwd->...nd", weights, value[..., neighbour, :])

# %% [wrong] band_in_full_matrix | It makes the full n x n scores and masks the band, which is just what was forbidden.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    position = torch.arange(n, device=query.device)
    band = (position[:, None] - position).abs() <= window
    scores = query @ key.transpose(-2, -1) / d**0.5
    weights = scores.masked_fill(~band, float("-inf")).softmax(-1)
    return weights @ value

# %% [wrong] no_scale | The scores are not divided by the square root of d.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    w = window
    keys = F.pad(key, (0, 0, w, w)).unfold(-2, 2 * w + 1, 1)
    values = F.pad(value, (0, 0, w, w)).unfold(-2, 2 * w + 1, 1)
    scores = torch.einsum("...nd,...ndk->...nk", query, keys)
    j = torch.arange(n, device=query.device)[:, None] + torch.arange(-w, w + 1, device=query.device)
    scores = scores.masked_fill((j < 0) | (j >= n), float("-inf"))
    return torch.einsum("...nk,...ndk->...nd", scores.softmax(-1), values)

# %% [wrong] looks_back_only | Only the left side is padded and unfolded with window + 1, so later neighbours are never seen.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    w = window
    keys = F.pad(key, (0, 0, w, 0)).unfold(-2, w + 1, 1)
    values = F.pad(value, (0, 0, w, 0)).unfold(-2, w + 1, 1)
    scores = torch.einsum("...nd,...ndk->...nk", query, keys) / d**0.5
    j = torch.arange(n, device=query.device)[:, None] + torch.arange(-w, 1, device=query.device)
    scores = scores.masked_fill(j < 0, float("-inf"))
    return torch.einsum("...nk,...ndk->...nd", scores.softmax(-1), values)

# %% [wrong] mask_off_by_one | The mask of the padding is off by one: position 0 is treated as padding (j <= 0).
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    w = window
    keys = F.pad(key, (0, 0, w, w)).unfold(-2, 2 * w + 1, 1)
    values = F.pad(value, (0, 0, w, w)).unfold(-2, 2 * w + 1, 1)
    scores = torch.einsum("...nd,...ndk->...nk", query, keys) / d**0.5
    j = torch.arange(n, device=query.device)[:, None] + torch.arange(-w, w + 1, device=query.device)
    scores = scores.masked_fill((j <= 0) | (j >= n), -1e9)
    return torch.einsum("...nk,...ndk->...nd", scores.softmax(-1), values)

# %% [wrong] masked_with_zero | The padding gets the score 0 instead of minus infinity, so it still takes part in the softmax.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    w = window
    keys = F.pad(key, (0, 0, w, w)).unfold(-2, 2 * w + 1, 1)
    values = F.pad(value, (0, 0, w, w), value=0.0).unfold(-2, 2 * w + 1, 1)
    scores = torch.einsum("...nd,...ndk->...nk", query, keys) * d**-0.5
    j = torch.arange(n, device=query.device)[:, None] + torch.arange(-w, w + 1, device=query.device)
    inside = (j >= 0) & (j < n)
    weights = torch.softmax(scores * inside, dim=-1)
    return torch.einsum("...nk,...ndk->...nd", weights, values)
