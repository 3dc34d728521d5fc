# %% [wrong] nan_for_empty_row | a row of −∞ is not treated: its largest score is −∞, −∞ − (−∞) is NaN, and so the whole row is NaN instead of zeros
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim=dim, keepdim=True)
    e = (scores - largest).exp()
    return e / e.sum(dim=dim, keepdim=True)


# %% [wrong] one_maximum_for_all | subtracts the largest score of the whole tensor and not that of each row: a row that lies far below another one underflows completely and becomes zeros
def stable_softmax(scores, dim=-1):
    top = scores.max()
    if top == -math.inf:
        return torch.zeros_like(scores)
    powers = torch.exp(scores - top)
    total = powers.sum(dim, keepdim=True)
    total = torch.where(total == 0, torch.ones_like(total), total)
    return powers / total


# %% [wrong] any_for_all | rows are zeroed as soon as ANY of their scores is −∞, not only when all are: a row that is hidden in part loses all its weight
def stable_softmax(scores, dim=-1):
    hidden = torch.isneginf(scores)
    empty = hidden.any(dim=dim, keepdim=True)
    safe = scores.masked_fill(empty, 0.0)
    exps = torch.exp(safe - safe.amax(dim, keepdim=True))
    result = exps / exps.sum(dim, keepdim=True)
    return result.masked_fill(empty, 0.0)


# %% [wrong] never_swapped_back | the axis `dim` is moved to the end, the softmax is taken there, and the axes are not swapped back: for any dim but the last the result is transposed
def stable_softmax(scores, dim=-1):
    x = scores.transpose(dim, -1)
    biggest = x.max(dim=-1, keepdim=True).values
    biggest[biggest == -math.inf] = 0.0
    x = (x - biggest).exp()
    s = x.sum(dim=-1, keepdim=True)
    s[s == 0] = 1.0
    return x / s


# %% [wrong] clamped_scores | overflow is avoided by clamping the scores to ±60 instead of subtracting the largest: finite, but all scores beyond 60 count as equal, so [1000, 999] gives [0.5, 0.5]
def stable_softmax(scores, dim=-1):
    hidden = scores == -math.inf
    exponentials = scores.clamp(-60, 60).exp() * ~hidden
    sums = exponentials.sum(dim=dim, keepdim=True)
    return exponentials / sums.masked_fill(sums == 0, 1)


# %% [right] slice_by_slice | the tensor is taken apart along `dim`; maximum and sum are folded over the slices with functools.reduce, and the slices are stacked again
import functools
import operator


def stable_softmax(scores, dim=-1):
    slices = scores.unbind(dim)
    top = functools.reduce(torch.maximum, slices)
    top = torch.where(torch.isneginf(top), torch.zeros_like(top), top)
    powers = [torch.exp(one - top) for one in slices]
    total = functools.reduce(operator.add, powers)
    total = total + (total == 0).to(total.dtype)
    return torch.stack([one / total for one in powers], dim=dim)
