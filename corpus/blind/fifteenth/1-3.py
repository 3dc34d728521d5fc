# %% [wrong] one_maximum_for_everything | The maximum is taken over the whole tensor, not along dim. A row that lies far below the largest score of another row then underflows to zeros, though its shares should sum to 1.
def stable_softmax(scores, dim=-1):
    biggest = scores.max()
    if biggest == -math.inf:
        return torch.zeros_like(scores)
    e = torch.exp(scores - biggest)
    total = e.sum(dim=dim, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)
# %% [wrong] maximum_along_last_axis | The maximum is taken along the last axis, whatever dim says; only the sum follows dim. For another dim each score of a column has a different number subtracted, and the shares are wrong. Both must run along dim.
def stable_softmax(scores, dim=-1):
    """Softmax along `dim` that stays finite."""
    largest = scores.amax(-1, keepdim=True)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    exps = (scores - largest).exp()
    sums = exps.sum(dim, keepdim=True)
    sums = sums.masked_fill(sums == 0, 1.0)
    return exps / sums
# %% [wrong] scores_clamped_to_fifty | Scores are clamped to a safe range in place of subtracting the largest. All scores above 50 become equal, and -inf becomes -50, so a row of -inf gets equal shares and not zeros. Subtract the maximum along dim instead.
def stable_softmax(scores, dim=-1):
    safe = torch.clamp(scores, min=-50.0, max=50.0)   # exp can not overflow now
    powers = torch.exp(safe)
    return powers / powers.sum(dim=dim, keepdim=True)
