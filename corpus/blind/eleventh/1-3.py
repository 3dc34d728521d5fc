# %% [wrong] largest_of_the_whole_tensor | Subtracts the largest score of the whole tensor and not of each row. A row that lies far below the largest score (by 200, say) underflows to zeros, although it should sum to 1.
def stable_softmax(scores, dim=-1):
    top = scores.max()
    if top == -math.inf:
        return torch.zeros_like(scores)
    e = torch.exp(scores - top)
    total = e.sum(dim, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)


# %% [wrong] clamps_large_scores | Limits the scores to -80...80 instead of subtracting the largest. Everything stays finite, but scores beyond the limit become equal: [10000, 9999] gives [0.5, 0.5] and not [0.731, 0.269].
def stable_softmax(scores, dim=-1):
    hidden = torch.isneginf(scores)
    e = scores.clamp(-80, 80).exp().masked_fill(hidden, 0.0)
    total = e.sum(dim=dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


# %% [wrong] largest_put_back_at_the_end | Takes maximum and sum along dim without keepdim and puts the axis back at the end. For dim=-1 it is right; for any other axis the shapes no longer line up: an error, or wrong numbers in a square.
def stable_softmax(scores, dim=-1):
    largest = scores.max(dim).values.unsqueeze(-1)
    largest = torch.where(torch.isinf(largest), torch.zeros_like(largest), largest)
    exps = (scores - largest).exp()
    sums = exps.sum(dim).unsqueeze(-1)
    return exps / torch.where(sums == 0, torch.ones_like(sums), sums)


# %% [wrong] minus_infinity_made_finite | Replaces every -inf by -1e9 to avoid NaN. A row of -inf then holds equal numbers and becomes uniform, although it should be all zeros.
def stable_softmax(scores, dim=-1):
    scores = scores.masked_fill(scores == float("-inf"), -1e9)
    scores = scores - scores.amax(dim, keepdim=True)
    numerator = torch.exp(scores)
    return numerator / numerator.sum(dim, keepdim=True)


# %% [wrong] powers_of_two | Takes powers of two (as fast attention kernels do) but leaves out the factor log2(e) that belongs to it. [2, 1] gives [0.667, 0.333] and not [0.731, 0.269].
def stable_softmax(scores, dim=-1):
    m = scores.amax(dim=dim, keepdim=True)
    m = m.masked_fill(m == -math.inf, 0.0)
    p = torch.exp2(scores - m)
    l = p.sum(dim=dim, keepdim=True)
    return p / l.masked_fill(l == 0, 1.0)


# %% [right] folded_maximum | Finds the largest by folding torch.maximum over the slices, and divides by a sum clamped at 1: the largest score always brings exp(0) = 1, so only a row of -inf has less.
def stable_softmax(scores, dim=-1):
    from functools import reduce

    peak = reduce(torch.maximum, scores.unbind(dim)).unsqueeze(dim)
    peak = torch.where(torch.isneginf(peak), torch.zeros_like(peak), peak)
    raised = (scores - peak).exp()
    return raised / raised.sum(dim, keepdim=True).clamp(min=1.0)
