# %% [right] where_instead_of_fill | right
def stable_softmax(scores, dim=-1):
    top = scores.max(dim=dim, keepdim=True).values
    finite_top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    grown = torch.exp(scores - finite_top)
    total = grown.sum(dim=dim, keepdim=True)
    return grown / (total + (total == 0))

# %% [wrong] nothing_subtracted | The largest score is not subtracted, so large scores overflow.
def stable_softmax(scores, dim=-1):
    grown = scores.exp()
    total = grown.sum(dim, keepdim=True)
    return grown / total.masked_fill(total == 0, 1.0)

# %% [wrong] global_maximum | The largest of all scores is subtracted instead of the largest along dim, so rows far below it underflow to zeros.
def stable_softmax(scores, dim=-1):
    top = scores.max()
    top = torch.where(top == -math.inf, torch.zeros_like(top), top)
    grown = (scores - top).exp()
    total = grown.sum(dim, keepdim=True)
    return grown / total.masked_fill(total == 0, 1.0)

# %% [wrong] nan_row | A row of minus infinity gives NaN, because its largest score is not mended.
def stable_softmax(scores, dim=-1):
    grown = (scores - scores.amax(dim, keepdim=True)).exp()
    return grown / grown.sum(dim, keepdim=True)

# %% [wrong] dim_ignored | dim is ignored: maximum and sum are always taken along the last axis.
def stable_softmax(scores, dim=-1):
    top = scores.amax(-1, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0)
    grown = (scores - top).exp()
    total = grown.sum(-1, keepdim=True)
    return grown / total.masked_fill(total == 0, 1.0)

# %% [wrong] no_keepdim | keepdim is forgotten in the sum, so it broadcasts against the wrong axis.
def stable_softmax(scores, dim=-1):
    top = scores.amax(dim, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0)
    grown = (scores - top).exp()
    total = grown.sum(dim)
    return grown / total.masked_fill(total == 0, 1.0)

# %% [wrong] uniform_for_hidden_row | A row of minus infinity becomes uniform instead of zeros.
def stable_softmax(scores, dim=-1):
    top = scores.amax(dim, keepdim=True)
    mended = scores.masked_fill(top == -math.inf, 0.0)
    grown = (mended - mended.amax(dim, keepdim=True)).exp()
    return grown / grown.sum(dim, keepdim=True)

# %% [wrong] clamped | The scores are clamped to 50 against overflow, which makes all larger ones equal.
def stable_softmax(scores, dim=-1):
    grown = scores.clamp(max=50.0).exp()
    total = grown.sum(dim, keepdim=True)
    return grown / total.masked_fill(total == 0, 1.0)

# %% [wrong] epsilon | 1e-3 is added to the sum against division by zero, so the rows no longer sum to 1.
def stable_softmax(scores, dim=-1):
    top = scores.amax(dim, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0)
    grown = (scores - top).exp()
    return grown / (grown.sum(dim, keepdim=True) + 1e-3)

# %% [wrong] mean_subtracted | The mean is subtracted instead of the largest score, which does not prevent an overflow.
def stable_softmax(scores, dim=-1):
    middle = scores.mean(dim, keepdim=True)
    middle = middle.masked_fill(middle == -math.inf, 0.0)
    grown = (scores - middle).exp()
    total = grown.sum(dim, keepdim=True)
    return grown / total.masked_fill(total == 0, 1.0)

# %% [wrong] in_place | The largest score is subtracted in place (-=), which changes the caller's scores.
def stable_softmax(scores, dim=-1):
    top = scores.amax(dim, keepdim=True)
    scores -= top.masked_fill(top == -math.inf, 0.0)
    grown = scores.exp()
    total = grown.sum(dim, keepdim=True)
    return grown / total.masked_fill(total == 0, 1.0)
