# %% [wrong] one_largest_for_all_rows | The largest number of the whole tensor is subtracted (scores.max()) in place of that of each row along dim. A row at −10,000 beside one at 10,000 underflows to sum 0, and comes out as zeros in place of shares.
def stable_softmax(scores, dim=-1):
    largest = scores.max()
    if largest == -math.inf:
        return torch.zeros_like(scores)
    powers = torch.exp(scores - largest)
    total = powers.sum(dim, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)

# %% [wrong] largest_along_the_last_axis | The largest score is always taken along -1, the sum along dim; both should be along dim. With dim=0 each row is shifted by another number, so the shares along dim 0 are wrong.
def stable_softmax(scores, dim=-1):
    peak = scores.amax(-1, keepdim=True)
    peak = torch.where(peak == -math.inf, torch.zeros_like(peak), peak)
    e = (scores - peak).exp()
    s = e.sum(dim=dim, keepdim=True)
    return e / torch.where(s == 0, torch.ones_like(s), s)

# %% [wrong] clamped_scores | Scores are clamped to −50…50 in place of subtracting the largest one. It stays finite, but 10,000 and 9,000 become equal and share the weight.
def stable_softmax(scores, dim=-1):
    hidden = scores == -math.inf
    powers = scores.clamp(-50, 50).exp().masked_fill(hidden, 0.0)  # exp(50) does not overflow yet
    total = powers.sum(dim, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)

# %% [wrong] lowest_number_for_minus_infinity | −∞ is replaced by the lowest finite number first, so in a row of −∞ all scores are equal; such a row should become zeros. It comes out uniform, 1/n each.
def stable_softmax(scores, dim=-1):
    finite = scores.clamp(min=torch.finfo(scores.dtype).min)
    shifted = finite - finite.amax(dim, keepdim=True)
    powers = shifted.exp()
    return powers / powers.sum(dim, keepdim=True)

# %% [wrong] negative_axis_wrongly_counted | A negative dim is turned into ndim - dim; it should be ndim + dim. With the default dim=-1 the axis is ndim + 1, and an IndexError is raised.
def stable_softmax(scores, dim=-1):
    def along(axis):
        return axis if axis >= 0 else scores.dim() - axis

    axis = along(dim)
    top = scores.amax(axis, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0)
    powers = torch.exp(scores - top)
    total = powers.sum(axis, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)

# %% [wrong] largest_magnitude | The largest absolute value is subtracted; it should be the largest value. In a row around −10,000 every exponential is exp(−20,000) = 0, and the row becomes zeros; with −∞ in a row beside finite scores all of it becomes zeros, too.
def stable_softmax(scores, dim=-1):
    biggest = scores.abs().amax(dim, keepdim=True)
    powers = torch.exp(scores - biggest)
    total = powers.sum(dim, keepdim=True)
    return powers / torch.where(total > 0, total, torch.ones_like(total))

# %% [right] axis_moved_to_the_end | The axis is moved to the end, worked on there, and moved back; both special cases go through torch.where.
def stable_softmax(scores, dim=-1):
    rows = scores.movedim(dim, -1)
    top = rows.amax(-1, keepdim=True)
    top = torch.where(top == -math.inf, torch.zeros_like(top), top)  # −∞ − (−∞) would be NaN
    powers = torch.exp(rows - top)
    total = powers.sum(-1, keepdim=True)
    shares = powers / torch.where(total == 0, torch.ones_like(total), total)
    return shares.movedim(-1, dim)
