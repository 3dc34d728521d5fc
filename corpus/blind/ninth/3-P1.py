# %% [wrong] padding_takes_its_share | The padded keys are not masked before the softmax. Their scores are 0 and not −∞, so positions near the ends give weight to nothing. The first and last `window` outputs are too small.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    span = 2 * window + 1
    keys = F.pad(key, (0, 0, window, window)).unfold(-2, span, 1)
    values = F.pad(value, (0, 0, window, window)).unfold(-2, span, 1)
    scores = torch.einsum("...nd,...ndw->...nw", query, keys) / query.shape[-1] ** 0.5
    return torch.einsum("...nw,...ndw->...nd", scores.softmax(-1), values)

# %% [wrong] band_in_a_full_matrix | All n × n scores are made, and a band mask cuts out the window. The numbers are right, but no tensor of n × n numbers may be made. Time and memory still grow with n².
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    place = torch.arange(query.shape[-2], device=query.device)
    near = (place[:, None] - place).abs() <= window
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return scores.masked_fill(~near, float("-inf")).softmax(-1) @ value

# %% [wrong] slice_begins_below_zero | The slice begins at i − window, which is negative for the first positions. Python counts such an index from the end, so it should be max(0, i − window). There the slice is mostly empty, and zeros come out.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    outputs = []
    for i in range(query.shape[-2]):
        near = slice(i - window, i + window + 1)
        scores = (key[..., near, :] * query[..., i : i + 1, :]).sum(-1) / query.shape[-1] ** 0.5
        outputs.append((scores.softmax(-1).unsqueeze(-1) * value[..., near, :]).sum(-2))
    return torch.stack(outputs, dim=-2)

# %% [wrong] zero_keys_taken_for_padding | Padding is recognised by keys that are all zeros. It should be known from the positions. A real key of zeros is hidden as well, where it should get its share of the weight.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    def neighbours(x):
        return F.pad(x, (0, 0, window, window)).unfold(-2, 2 * window + 1, 1).transpose(-2, -1)

    keys, values = neighbours(key), neighbours(value)
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / query.shape[-1] ** 0.5
    filler = (keys == 0).all(-1)
    weights = scores.masked_fill(filler, float("-inf")).softmax(-1)
    return (weights.unsqueeze(-2) @ values).squeeze(-2)

# %% [wrong] ends_are_joined_to_a_ring | The neighbours are found with roll, which brings the last positions round to the first. Positions beyond the ends do not exist and should be masked. The first position sees the last ones.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    shifts = range(-window, window + 1)
    keys = torch.stack([key.roll(s, -2) for s in shifts], -2)
    values = torch.stack([value.roll(s, -2) for s in shifts], -2)
    scores = torch.einsum("...d,...wd->...w", query, keys) * query.shape[-1] ** -0.5
    return torch.einsum("...w,...wd->...d", scores.softmax(-1), values)

# %% [wrong] divided_by_the_width_of_the_window | The scores are divided by the root of the number of neighbours, read from the last axis after unfold. It should be the root of d. The weights are too sharp or too even.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n = query.shape[-2]
    keys, values = (
        F.pad(x, (0, 0, window, window)).unfold(-2, 2 * window + 1, 1) for x in (key, value)
    )
    where = torch.arange(n, device=query.device)[:, None] + torch.arange(-window, window + 1, device=query.device)
    real = (where >= 0) & (where < n)
    scores = (query.unsqueeze(-2) @ keys).squeeze(-2) / keys.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~real, -torch.inf), -1)
    return (values @ weights.unsqueeze(-1)).squeeze(-1)

# %% [right] one_offset_at_a_time | Goes over the 2·window + 1 offsets like diagonals of the matrix, and keeps numerator and denominator of the softmax; no padding and no mask.
def sliding_window_attention(query: Tensor, key: Tensor, value: Tensor, window: int) -> Tensor:
    n, d = query.shape[-2:]
    reach = min(window, n - 1)

    def ends(offset):
        asks = slice(max(0, -offset), n - max(0, offset))
        answers = slice(max(0, offset), n - max(0, -offset))
        return asks, answers

    diagonals = {}
    for offset in range(-reach, reach + 1):
        asks, answers = ends(offset)
        diagonals[offset] = torch.einsum("...nd,...nd->...n", query[..., asks, :], key[..., answers, :]) / d**0.5
    largest = diagonals[0].clone()
    for offset, scores in diagonals.items():
        asks, _ = ends(offset)
        largest[..., asks] = torch.maximum(largest[..., asks], scores)
    total = torch.zeros_like(largest)
    mixed = torch.zeros_like(value)
    for offset, scores in diagonals.items():
        asks, answers = ends(offset)
        grown = (scores - largest[..., asks]).exp()
        total[..., asks] += grown
        mixed[..., asks, :] += grown.unsqueeze(-1) * value[..., answers, :]
    return mixed / total.unsqueeze(-1)
