# %% [wrong] edge_patches_counted_again | Neighbours beyond the ends are clamped to the first and the last position, so these count several times near the edges. Places outside the sequence must be masked before the softmax.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    offsets = torch.arange(-window, window + 1, device=query.device)
    places = torch.arange(n, device=query.device).unsqueeze(1) + offsets  # (n, 2 · window + 1)
    places = places.clamp(0, n - 1)
    near_keys, near_values = key[..., places, :], value[..., places, :]
    scores = torch.einsum("...nd,...nwd->...nw", query, near_keys) / d**0.5
    return torch.einsum("...nw,...nwd->...nd", scores.softmax(-1), near_values)


# %% [wrong] masked_after_the_softmax | The padding takes part in the softmax with a score of 0, and its weights are set to 0 only afterwards, so the weights near the ends sum to less than 1. Mask the scores with minus infinity before the softmax.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    width = 2 * window + 1
    padded_keys = F.pad(key, (0, 0, window, window))
    padded_values = F.pad(value, (0, 0, window, window))
    near_keys = padded_keys.unfold(-2, width, 1)  # (..., n, d, width)
    near_values = padded_values.unfold(-2, width, 1)  # (..., n, d_v, width)
    scores = (query.unsqueeze(-2) @ near_keys).squeeze(-2) / d**0.5
    exists = F.pad(torch.ones(n, device=query.device), (window, window)).unfold(0, width, 1) > 0
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(~exists, 0.0)
    return (near_values @ weights.unsqueeze(-1)).squeeze(-1)
