# %% [wrong] global_max | The largest score of the whole tensor is subtracted instead of the largest along dim: a row that lies far below (−10,000 beside a row at 10,000) underflows to zeros instead of summing to 1
def stable_softmax(scores, dim=-1):
    top = scores.max()
    top = torch.where(top == -math.inf, torch.zeros_like(top), top)
    e = torch.exp(scores - top)
    z = e.sum(dim, keepdim=True)
    return e / torch.where(z == 0, torch.ones_like(z), z)

# %% [wrong] no_keepdim | amax(dim) is taken without keepdim=True, so the maxima (R,) are subtracted along the wrong axis of a matrix, or do not broadcast: an error for non-square ones
def stable_softmax(scores, dim=-1):
    m = scores.amax(dim)
    m = m.masked_fill(m == -math.inf, 0.0)
    p = (scores - m).exp()
    s = p.sum(dim, keepdim=True)
    return p / s.masked_fill(s == 0, 1.0)

# %% [wrong] plus_one | The sum gets + 1 to avoid the division by zero ("quiet softmax"), so no row sums to 1: a single number gives 0.5 instead of 1
def stable_softmax(scores, dim=-1):
    biggest = scores.amax(dim=dim, keepdim=True)
    biggest = biggest.masked_fill(biggest == -math.inf, 0.0)
    ex = torch.exp(scores - biggest)
    return ex / (1 + ex.sum(dim=dim, keepdim=True))

# %% [wrong] inf_minus_inf | The maximum of a row of −∞ is not mended: −∞ − (−∞) is NaN, and NaN > 0 is False, so the row divides NaN by 1 and stays NaN instead of zeros
def stable_softmax(scores, dim=-1):
    shifted = scores - scores.max(dim=dim, keepdim=True)[0]
    num = shifted.exp()
    den = num.sum(dim=dim, keepdim=True)
    den = torch.where(den > 0, den, torch.ones_like(den))
    return num / den

# %% [wrong] dim_lost | The sum runs over dim=-1 whatever dim is, so for dim=0 the columns do not sum to 1; it should be sum(dim, keepdim=True)
def stable_softmax(scores, dim=-1):
    top = scores.amax(dim, keepdim=True)
    top = torch.nan_to_num(top, neginf=0.0)
    exps = torch.exp(scores - top)
    total = exps.sum(-1, keepdim=True)
    return exps / total.masked_fill(total == 0, 1)

# %% [wrong] clamped | Scores are clamped to ±60 instead of shifted by their maximum: 10,000 and 9,000 become equal and share the weight half and half instead of 1 and 0
def stable_softmax(scores, dim=-1):
    hidden = scores == -math.inf
    e = scores.clamp(-60, 60).exp().masked_fill(hidden, 0.0)
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)

# %% [right] where_style | torch.where in place of masked_fill, and the zero total is replaced before the division
def stable_softmax(scores, dim=-1):
    top = scores.max(dim=dim, keepdim=True).values
    top = torch.where(torch.isneginf(top), torch.zeros_like(top), top)
    shares = torch.exp(scores - top)
    total = shares.sum(dim=dim, keepdim=True)
    return shares / torch.where(total > 0, total, torch.ones_like(total))
