# %% [wrong] rest_of_the_keys_dropped | Walks over S // tile full tiles. Where tile does not divide S, the last keys are never seen; where tile is larger than S, none is, and 0 / 0 is NaN.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    T, d = query.shape[-2:]
    largest = query.new_full((*query.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(largest)
    summed = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for number in range(key.shape[-2] // tile):
        part = slice(number * tile, (number + 1) * tile)
        scores = query @ key[..., part, :].transpose(-2, -1) / d**0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shrink, weights = (largest - new).exp(), (scores - new).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        summed = summed * shrink + weights @ value[..., part, :]
        largest = new
    return summed / total


# %% [wrong] total_not_shrunk | When a larger score comes, only the sum with the values is multiplied by exp(old − new), not the total. Numerator and denominator are measured against different numbers.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    scale = query.shape[-1] ** -0.5
    largest, total, acc = None, None, None
    for k, v in zip(key.split(tile, dim=-2), value.split(tile, dim=-2)):
        s = torch.einsum("...td,...sd->...ts", query, k) * scale
        top = s.max(dim=-1, keepdim=True).values
        if largest is None:
            w = torch.exp(s - top)
            largest, total, acc = top, w.sum(-1, keepdim=True), w @ v
            continue
        new = torch.maximum(largest, top)
        w = torch.exp(s - new)
        acc = acc * torch.exp(largest - new) + w @ v
        total = total + w.sum(-1, keepdim=True)
        largest = new
    return acc / total


# %% [wrong] softmax_per_tile_averaged | Makes a softmax in each tile and averages the tiles' outputs. Each tile gets the same say, however small its scores are beside those of the others.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    S, d = key.shape[-2:]
    outputs = 0
    count = 0
    for start in range(0, S, tile):
        k, v = key[..., start : start + tile, :], value[..., start : start + tile, :]
        w = torch.softmax(query @ k.mT / d**0.5, dim=-1)
        outputs = outputs + w @ v
        count += 1
    return outputs / count


# %% [wrong] scores_of_all_tiles_kept | Computes the scores tile by tile and keeps them in a list until the largest is known. The output is right, but the list holds T × S numbers, in several tensors, which the text rules out.
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    root = query.shape[-1] ** 0.5
    keys, values = torch.split(key, tile, -2), torch.split(value, tile, -2)
    scores = [query @ k.transpose(-1, -2) / root for k in keys]
    largest = scores[0].amax(-1, keepdim=True)
    for s in scores[1:]:
        largest = torch.maximum(largest, s.amax(-1, keepdim=True))
    total = sum((s - largest).exp().sum(-1, keepdim=True) for s in scores)
    return sum((s - largest).exp() @ v for s, v in zip(scores, values)) / total


# %% [wrong] no_largest_subtracted | Adds up the bare exponentials, without a largest score. For large scores exp overflows to infinity and the output is NaN; softmax, which it should equal, is finite there.
class _Running:
    def __init__(self):
        self.top, self.bottom = 0.0, 0.0

    def add(self, scores, values):
        powers = scores.exp()
        self.top = self.top + powers @ values
        self.bottom = self.bottom + powers.sum(-1, keepdim=True)


def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    running = _Running()
    for start in range(0, key.shape[-2], tile):
        k, v = (x.narrow(-2, start, min(tile, x.shape[-2] - start)) for x in (key, value))
        running.add(query @ k.transpose(-2, -1) * query.shape[-1] ** -0.5, v)
    return running.top / running.bottom


# %% [right] merge_by_logsumexp | Keeps the finished output of all keys so far and the logarithm of its normaliser; each tile is attended to on its own and mixed in with the share sigmoid(new log − old log).
def tiled_attention(query: Tensor, key: Tensor, value: Tensor, tile: int) -> Tensor:
    asked = query / query.shape[-1] ** 0.5
    output = logs = None
    for keys, values in zip(key.split(tile, dim=-2), value.split(tile, dim=-2), strict=True):
        scores = asked @ keys.transpose(-2, -1)
        size = scores.logsumexp(-1, keepdim=True)
        seen = scores.sub_(size).exp_() @ values if not scores.requires_grad else (scores - size).exp() @ values
        if output is None:
            output, logs = seen, size
        else:
            share = torch.sigmoid(size - logs)
            output, logs = output + share * (seen - output), torch.logaddexp(logs, size)
    return output
