# %% [wrong] largest_of_everything | scores.max() is the largest of the whole tensor and not along dim, so a row that lies some hundred below another one underflows to zeros although it has finite scores.
def stable_softmax(scores, dim=-1):
    top = scores.max()
    if top == -math.inf:
        return torch.zeros_like(scores)
    e = torch.exp(scores - top)
    norm = e.sum(dim, keepdim=True)
    return e / torch.where(norm == 0, torch.ones_like(norm), norm)

# %% [wrong] sum_along_last_axis | The maximum runs along dim, but the sum is written with -1; for any other axis the result does not sum to 1 along dim.
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim, keepdim=True)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    weights = (scores - largest).exp()
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1.0)

# %% [wrong] clamped_scores | The scores are cut to −80…80 in place of subtracting the largest; 10,000 and 9,000 become equally likely, and a row of −∞ becomes even instead of zeros.
def stable_softmax(scores, dim=-1):
    safe = scores.clamp(-80.0, 80.0)  # exp(80) still fits into float32
    e = safe.exp()
    return e / e.sum(dim=dim, keepdim=True)

# %% [wrong] hidden_row_becomes_even | Where all scores are −∞ the scores are set to 0, so that such a row gets the weight 1/n everywhere; it must become zeros.
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim, keepdim=True)
    nothing = largest == -math.inf
    scores = scores.masked_fill(nothing, 0.0)
    largest = largest.masked_fill(nothing, 0.0)
    e = torch.exp(scores - largest)
    return e / e.sum(dim, keepdim=True)

# %% [wrong] mean_subtracted | The mean is subtracted instead of the largest score: scores of ±10,000 still overflow to ∞/∞, and a single −∞ makes the mean −∞ and the whole row NaN.
def stable_softmax(scores, dim=-1):
    # shifting by any constant is allowed
    centred = scores - scores.mean(dim, keepdim=True)
    numerator = torch.exp(centred)
    denominator = numerator.sum(dim, keepdim=True)
    denominator[denominator == 0] = 1.0
    return numerator / denominator

# %% [wrong] sum_loses_its_axis | weights.sum(dim) has no keepdim=True, so for a square matrix each row is divided by the sums of other rows, silently, and for other shapes the division fails.
def stable_softmax(scores, dim=-1):
    top = scores.amax(dim, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0)
    weights = torch.exp(scores - top)
    total = weights.sum(dim)
    total = total.masked_fill(total == 0, 1.0)
    return weights / total

# %% [right] clamped_twice | clamps the largest from below by the smallest finite number, and the total by 1, which it can only fall below where all is hidden
def stable_softmax(scores, dim=-1):
    lowest = torch.finfo(scores.dtype).min
    largest = scores.amax(dim, keepdim=True).clamp(min=lowest)
    shares = (scores - largest).exp()
    # the largest exponential is exactly 1, so the total is at least 1 or exactly 0
    return shares / shares.sum(dim, keepdim=True).clamp(min=1.0)
