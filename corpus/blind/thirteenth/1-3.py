# %% [wrong] one_max_for_all | subtracts the largest score of the whole tensor, not of each row: a row that lies far below (by 10,000, say) underflows to a sum of 0, and gets zeros where it should sum to 1
def stable_softmax(scores, dim=-1):
    top = scores.max()
    if top == -math.inf:
        return torch.zeros_like(scores)
    e = torch.exp(scores - top)
    total = e.sum(dim=dim, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)


# %% [wrong] clamped_scores | cuts the scores off at ±50 in place of subtracting the maximum: finite, but all scores beyond 50 become equal, so [1000, 999] gives [0.5, 0.5]
def stable_softmax(scores, dim=-1):
    hidden = scores == -math.inf
    e = scores.clamp(-50.0, 50.0).exp().masked_fill(hidden, 0.0)
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


# %% [wrong] infinite_scores_to_zero | mends the scores instead of the maximum: EVERY -inf becomes 0, so hidden keys get exp(0 - max), a real share, and a row of -inf becomes uniform instead of zeros
def stable_softmax(scores, dim=-1):
    scores = torch.where(torch.isinf(scores), torch.zeros_like(scores), scores)
    largest = scores.amax(dim, keepdim=True)
    shifted = torch.exp(scores - largest)
    return shifted / shifted.sum(dim, keepdim=True)


# %% [wrong] unsqueeze_at_the_end | takes maximum and sum along dim, but puts the lost axis back at the end, not at dim: for dim = 0 the shapes do not fit, or (square) rows are scaled with the numbers of columns
def stable_softmax(scores, dim=-1):
    def along(numbers):
        return numbers.unsqueeze(-1)

    largest = scores.max(dim).values
    largest = torch.where(largest == -math.inf, torch.zeros_like(largest), largest)
    numerator = torch.exp(scores - along(largest))
    denominator = numerator.sum(dim)
    denominator[denominator == 0] = 1.0
    return numerator / along(denominator)


# %% [wrong] only_if_all_rows | the -inf case is handled only when the whole tensor is -inf; one such row among ordinary ones still computes -inf - (-inf) and becomes NaN
def stable_softmax(scores, dim=-1):
    if (scores == -math.inf).all():
        return torch.zeros_like(scores)
    m, _ = torch.max(scores, dim=dim, keepdim=True)
    e = torch.exp(scores - m)
    s = e.sum(dim=dim, keepdim=True)
    return e / s


# %% [right] slices_along_dim | unbinds the axis into slices, takes the running maximum and sum of the slices, and stacks them again
def stable_softmax(scores, dim=-1):
    slices = scores.unbind(dim)
    top = slices[0]
    for one in slices[1:]:
        top = torch.maximum(top, one)
    top = torch.where(torch.isinf(top) & (top < 0), torch.zeros_like(top), top)
    raised = [(one - top).exp() for one in slices]
    total = sum(raised)
    total = total + (total == 0).to(total.dtype)
    return torch.stack([one / total for one in raised], dim=dim)
