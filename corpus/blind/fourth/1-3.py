# %% [wrong] global_maximum | Subtracts the largest score of the whole tensor and not that of each row: a row that lies far below another one underflows to zeros.
def stable_softmax(scores, dim=-1):
    largest = scores.max()
    if largest == -math.inf:
        return torch.zeros_like(scores)
    e = torch.exp(scores - largest)
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


# %% [wrong] nan_for_hidden_rows | The maximum is subtracted as it is; in a row of −∞ that is −∞ − (−∞), and the row becomes NaN in place of zeros.
def stable_softmax(scores, dim=-1):
    shifted = scores - scores.amax(dim, keepdim=True)
    numer = shifted.exp()
    return numer / numer.sum(dim, keepdim=True)


# %% [wrong] clamped_scores | The scores are clamped so that exp stays finite; large scores that differ, such as 10,000 and 9,990, then get equal weights.
def stable_softmax(scores, dim=-1):
    safe = scores.clamp(-80.0, 80.0)
    e = safe.exp()
    e = torch.where(scores == -math.inf, torch.zeros_like(e), e)
    s = e.sum(dim=dim, keepdim=True)
    return e / torch.where(s == 0, torch.ones_like(s), s)


# %% [wrong] last_axis_maximum | The maximum is taken along the last axis and the sum along `dim`: for another axis different numbers are subtracted within one softmax.
def stable_softmax(scores, dim=-1):
    largest = scores.amax(-1, keepdim=True)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    exps = torch.exp(scores - largest)
    total = exps.sum(dim, keepdim=True)
    return exps / total.masked_fill(total == 0, 1.0)


# %% [wrong] even_where_nothing | A row of −∞ gets the even weights 1/n; it must become zeros.
def stable_softmax(scores, dim=-1):
    n = scores.shape[dim]
    m, _ = scores.max(dim=dim, keepdim=True)
    hidden = m == -math.inf
    e = torch.exp(scores - torch.where(hidden, torch.zeros_like(m), m))
    z = e.sum(dim=dim, keepdim=True)
    return torch.where(hidden, torch.full_like(e, 1 / n), e / z.masked_fill(hidden, 1.0))


# %% [wrong] sum_loses_its_axis | The sum is taken without `keepdim`, so it lies along another axis when it divides: an error, or for square maps the wrong sums.
def stable_softmax(scores, dim=-1):
    biggest = scores.amax(dim, keepdim=True)
    biggest[biggest == -math.inf] = 0.0
    e = (scores - biggest).exp()
    total = e.sum(dim)
    total[total == 0] = 1.0
    return e / total


# %% [right] move_axis | Moves the axis to the end, works there with `max` and `where`, and moves it back.
def stable_softmax(scores, dim=-1):
    s = scores.movedim(dim, -1)
    top = s.max(-1, keepdim=True).values
    alive = top > -math.inf
    e = torch.where(alive, (s - torch.where(alive, top, torch.zeros_like(top))).exp(), torch.zeros_like(s))
    z = e.sum(-1, keepdim=True)
    return (e / torch.where(alive, z, torch.ones_like(z))).movedim(-1, dim)
