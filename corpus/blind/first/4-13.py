# %% [wrong] no_rescaling | The sums so far are not scaled when a larger score comes: shrink is left out.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    d = query.shape[-1]
    largest = torch.full((*query.shape[:-1], 1), -torch.inf)
    total = torch.zeros(*query.shape[:-1], 1)
    output = torch.zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ k.transpose(-2, -1) / d**0.5
        largest = torch.maximum(largest, scores.amax(-1, keepdim=True))
        weights = torch.exp(scores - largest)
        total = total + weights.sum(-1, keepdim=True)
        output = output + weights @ v
    return output / total
# %% [wrong] shrink_the_wrong_way | shrink is exp(new − old), which makes the sums larger where they must become smaller.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    d = query.shape[-1]
    largest = torch.full((*query.shape[:-1], 1), -1e9, dtype=query.dtype)
    total = torch.zeros(*query.shape[:-1], 1, dtype=query.dtype)
    output = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype)
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ k.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = torch.exp(new - largest)
        weights = torch.exp(scores - new)
        total = total * shrink + weights.sum(-1, keepdim=True)
        output = output * shrink + weights @ v
        largest = new
    return output / total
# %% [wrong] largest_not_updated | The new largest score is never kept, so every tile is compared with −∞ again.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    d = query.shape[-1]
    largest = torch.full((*query.shape[:-1], 1), float("-inf"), dtype=query.dtype)
    total = torch.zeros(*query.shape[:-1], 1, dtype=query.dtype)
    output = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype)
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ k.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = torch.exp(largest - new)
        weights = torch.exp(scores - new)
        total = total * shrink + weights.sum(-1, keepdim=True)
        output = output * shrink + weights @ v
    return output / total
# %% [wrong] only_total_scaled | Only the total is scaled; the sum with the values is left as it was.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    d = query.shape[-1]
    largest = torch.full((*query.shape[:-1], 1), float("-inf"), dtype=query.dtype)
    total = torch.zeros(*query.shape[:-1], 1, dtype=query.dtype)
    output = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype)
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ k.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        weights = torch.exp(scores - new)
        total = total * torch.exp(largest - new) + weights.sum(-1, keepdim=True)
        output = output + weights @ v
        largest = new
    return output / total
# %% [wrong] last_tile_dropped | The loop runs over S // tile whole tiles; the keys left over at the end are never seen.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    d, S = query.shape[-1], key.shape[-2]
    tile = min(tile, S)
    largest = torch.full((*query.shape[:-1], 1), float("-inf"), dtype=query.dtype)
    total = torch.zeros(*query.shape[:-1], 1, dtype=query.dtype)
    output = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype)
    for n in range(S // tile):
        k, v = key[..., n * tile : (n + 1) * tile, :], value[..., n * tile : (n + 1) * tile, :]
        scores = query @ k.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = torch.exp(largest - new)
        weights = torch.exp(scores - new)
        total = total * shrink + weights.sum(-1, keepdim=True)
        output = output * shrink + weights @ v
        largest = new
    return output / total
# %% [wrong] mean_of_softmaxes | Each tile gets a softmax of its own, and the outputs of the tiles are averaged.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    outputs = 0
    count = 0
    for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
        outputs = outputs + scores.softmax(-1) @ v
        count += 1
    return outputs / count
# %% [wrong] no_largest | No largest score is kept: exp of large scores overflows to inf, and inf / inf is nan.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    total, output = 0, 0
    for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        weights = torch.exp(query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5)
        total = total + weights.sum(-1, keepdim=True)
        output = output + weights @ v
    return output / total
# %% [wrong] never_divided | The output is not divided by the total in the end.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    d = query.shape[-1]
    largest = torch.full((*query.shape[:-1], 1), float("-inf"), dtype=query.dtype)
    total = torch.zeros(*query.shape[:-1], 1, dtype=query.dtype)
    output = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype)
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ k.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = torch.exp(largest - new)
        weights = torch.exp(scores - new)
        total = total * shrink + weights.sum(-1, keepdim=True)
        output = output * shrink + weights @ v
        largest = new
    return output
# %% [wrong] all_scores_kept | All scores are computed at once, T × S numbers, and only then cut into tiles.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    all_scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    largest = all_scores.amax(-1, keepdim=True)
    total, output = 0, 0
    for scores, v in zip(all_scores.split(tile, dim=-1), value.split(tile, dim=-2)):
        weights = torch.exp(scores - largest)
        total = total + weights.sum(-1, keepdim=True)
        output = output + weights @ v
    return output / total
# %% [wrong] largest_starts_at_0 | The largest score begins at 0 and not at −∞: rows whose scores are all very negative underflow to 0 / 0.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    d = query.shape[-1]
    largest = torch.zeros(*query.shape[:-1], 1, dtype=query.dtype)
    total = torch.zeros(*query.shape[:-1], 1, dtype=query.dtype)
    output = torch.zeros(*query.shape[:-1], value.shape[-1], dtype=query.dtype)
    for start in range(0, key.shape[-2], tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ k.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = torch.exp(largest - new)
        weights = torch.exp(scores - new)
        total = total * shrink + weights.sum(-1, keepdim=True)
        output = output * shrink + weights @ v
        largest = new
    return output / total
# %% [right] log_of_the_sum | Keeps the normalised output and the logarithm of the total, and blends each tile in with logaddexp.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    seen = query.new_zeros(*query.shape[:-1], value.size(-1))
    log_total = query.new_full((*query.shape[:-1], 1), -torch.inf)
    asking = query * query.size(-1) ** -0.5
    for keys, values in zip(key.split(tile, -2), value.split(tile, -2)):
        scores = asking @ keys.mT
        log_tile = scores.logsumexp(-1, keepdim=True)
        both = torch.logaddexp(log_total, log_tile)
        seen = seen * (log_total - both).exp() + (scores - both).exp() @ values
        log_total = both
    return seen
# %% [right] two_passes | Walks over the keys twice: first for the largest score alone, then for both sums.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    """softmax(QKᵀ/√d)V with `tile` keys at a time."""
    starts = range(0, key.shape[-2], tile)

    def scores(start):
        return torch.einsum("...td,...sd->...ts", query, key[..., start : start + tile, :]) / query.shape[-1] ** 0.5

    peak = None
    for start in starts:
        here = scores(start).max(dim=-1, keepdim=True).values
        peak = here if peak is None else torch.maximum(peak, here)
    above, below = 0, 0
    for start in starts:
        weights = (scores(start) - peak).exp()
        above = above + weights @ value[..., start : start + tile, :]
        below = below + weights.sum(-1, keepdim=True)
    return above / below
