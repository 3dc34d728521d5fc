# %% [right] running_logsumexp | right
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    log_total = output = None
    query = query * query.shape[-1] ** -0.5
    for keys, values in zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True):
        scores = query @ keys.mT
        here = scores.logsumexp(-1, keepdim=True)
        found = (scores - here).exp() @ values
        if output is None:
            log_total, output = here, found
        else:
            together = torch.logaddexp(log_total, here)
            output = (log_total - together).exp() * output + (here - together).exp() * found
            log_total = together
    return output

# %% [wrong] sum_not_rescaled | The total is rescaled when a larger score comes, the sum with the values is not.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    T, d = query.shape[-2:]
    S = key.shape[-2]
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, S, tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed + weights @ values
        largest = new
    return summed / total

# %% [wrong] shrink_upside_down | The factor is exp(new - old) instead of exp(old - new).
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    T, d = query.shape[-2:]
    S = key.shape[-2]
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, S, tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = torch.where(largest.isinf(), torch.zeros_like(new), (new - largest).exp())
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ values
        largest = new
    return summed / total

# %% [wrong] largest_not_updated | `largest` is never set to the new value, so it stays at minus infinity and the earlier tiles are wiped out.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    T, d = query.shape[-2:]
    S = key.shape[-2]
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, S, tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ values
    return summed / total

# %% [wrong] last_tile_dropped | range runs over S // tile tiles only, so keys behind the last full tile are left out.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    T, d = query.shape[-2:]
    S = key.shape[-2]
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for number in range(S // tile):
        start = number * tile
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ values
        largest = new
    return summed / total

# %% [wrong] softmax_per_tile | Each tile gets its own softmax and the outputs are averaged over the tiles.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    outputs = []
    for keys, values in zip(key.split(tile, -2), value.split(tile, -2)):
        scores = query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5
        outputs.append(scores.softmax(-1) @ values)
    return torch.stack(outputs).mean(0)

# %% [wrong] no_running_maximum | The largest score is left out altogether (plain exponentials), so large scores overflow.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    T, d = query.shape[-2:]
    S = key.shape[-2]
    total = query.new_zeros(*query.shape[:-1], 1)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, S, tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1) / d**0.5
        weights = scores.exp()
        total = total + weights.sum(-1, keepdim=True)
        summed = summed + weights @ values
    return summed / total

# %% [wrong] all_scores_kept | The scores of all tiles are kept in a list and joined, so T x S numbers stand in memory after all.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    scores = []
    for keys in key.split(tile, dim=-2):
        scores.append(query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5)
    weights = torch.cat(scores, dim=-1).softmax(-1)
    return weights @ value

# %% [wrong] total_starts_at_one | The total starts at one instead of zero, so each query divides by one exponential too many.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    T, d = query.shape[-2:]
    S = key.shape[-2]
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.ones_like(largest)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, S, tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp() if start else torch.ones_like(new)
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ values
        largest = new
    return summed / total

# %% [wrong] no_scale | The scores are not divided by the root of d.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    T, d = query.shape[-2:]
    S = key.shape[-2]
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, S, tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1)
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ values
        largest = new
    return summed / total

# %% [wrong] initial_zero | The largest score begins at 0 instead of minus infinity, so with very negative scores all exponentials underflow and 0/0 gives NaN.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    T, d = query.shape[-2:]
    S = key.shape[-2]
    largest = query.new_zeros(*query.shape[:-1], 1)
    total = torch.zeros_like(largest)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, S, tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ values
        largest = new
    return summed / total

# %% [wrong] divided_in_each_tile | The running sum is divided by the total inside the loop, and goes on to be summed as if it were not.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    T, d = query.shape[-2:]
    S = key.shape[-2]
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, S, tile):
        keys, values = key[..., start : start + tile, :], value[..., start : start + tile, :]
        scores = query @ keys.transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink = (largest - new).exp()
        weights = (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ values
        largest = new
        summed = summed / total
    return summed
