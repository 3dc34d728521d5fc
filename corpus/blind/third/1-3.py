# %% [wrong] one_maximum_for_all | Subtracts the largest score of the whole tensor: a row that lies far below it underflows to 0/0 or to zeros.
def stable_softmax(scores, dim=-1):
    biggest = scores.max()
    if biggest == -math.inf:
        return torch.zeros_like(scores)
    powers = torch.exp(scores - biggest)
    total = powers.sum(dim=dim, keepdim=True)
    return powers / torch.where(total == 0, torch.ones_like(total), total)

# %% [wrong] empty_row_nan | A row that is −∞ throughout gives −∞ − (−∞) = NaN; the case is not treated.
def stable_softmax(scores, dim=-1):
    largest = scores.max(dim=dim, keepdim=True).values
    e = (scores - largest).exp()
    return e / e.sum(dim=dim, keepdim=True)

# %% [wrong] nan_swept_away | Does not subtract the maximum; exp overflows for large scores, and nan_to_num turns the ∞/∞ into 0.
def stable_softmax(scores, dim=-1):
    exponentials = torch.exp(scores)
    shares = exponentials / torch.sum(exponentials, dim=dim, keepdim=True)
    return torch.nan_to_num(shares, nan=0.0)

# %% [wrong] sum_over_last | The maximum runs along dim, but the sum always along the last axis, so any other dim is wrong.
def stable_softmax(scores, dim=-1):
    m = scores.amax(dim, keepdim=True)
    m = m.masked_fill(m == -math.inf, 0.0)
    e = torch.exp(scores - m)
    total = e.sum(-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)

# %% [wrong] clamped_scores | Clamps the scores to ±80 against overflow: that changes large scores, and a hidden row becomes uniform.
def stable_softmax(scores, dim=-1):
    safe = scores.clamp(-80, 80)
    e = safe.exp()
    return e / e.sum(dim, keepdim=True)

# %% [wrong] hidden_row_uniform | Replaces −∞ by −1e9; a row of nothing but −∞ then has equal scores, and gets uniform weights in place of zeros.
def stable_softmax(scores, dim=-1):
    scores = torch.where(torch.isinf(scores), torch.full_like(scores, -1e9), scores)
    shifted = scores - scores.amax(dim, keepdim=True)
    p = shifted.exp()
    return p / p.sum(dim, keepdim=True)

# %% [right] slices_one_by_one | Goes along dim slice by slice, with a running maximum and a Python sum, and stacks the slices again.
def stable_softmax(scores, dim=-1):
    slices = scores.unbind(dim)
    top = slices[0]
    for one in slices[1:]:
        top = torch.maximum(top, one)
    top = torch.where(torch.isneginf(top), torch.zeros_like(top), top)
    powers = [(one - top).exp() for one in slices]
    total = sum(powers)
    total = torch.where(total > 0, total, torch.ones_like(total))
    return torch.stack([power / total for power in powers], dim)
