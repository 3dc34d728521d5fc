# %% [wrong] one_maximum_for_all_rows | Subtracts the largest score of the whole tensor, not that of each row along dim. A row that lies far below another one underflows: all its exponentials are 0, and it comes out as zeros although its scores are finite.
def stable_softmax(scores, dim=-1):
    largest = scores.max()
    if largest == -math.inf:
        return torch.zeros_like(scores)
    powers = (scores - largest).exp()
    total = powers.sum(dim, keepdim=True)
    return powers / torch.where(total == 0, torch.ones_like(total), total)

# %% [wrong] clamped_to_fifty | Keeps exp finite by clamping the scores to -50...50 in place of subtracting the largest. Scores of 9,999 and 10,000 become equal, and a row of minus infinity becomes uniform in place of zeros.
def stable_softmax(scores, dim=-1):
    tame = torch.clamp(scores, min=-50.0, max=50.0)
    e = torch.exp(tame)
    return e / e.sum(dim=dim, keepdim=True)

# %% [wrong] any_in_place_of_all | Gives zeros to each row that holds any minus infinity. Only a row where all scores are minus infinity should be zero: a causal mask would empty every row but the last.
def stable_softmax(scores, dim=-1):
    hidden = scores == -math.inf
    nothing = hidden.any(dim, keepdim=True)
    safe = scores.masked_fill(nothing, 0.0)
    safe = safe - safe.amax(dim, keepdim=True)
    shares = torch.exp(safe)
    shares = shares / torch.sum(shares, dim, keepdim=True)
    return shares.masked_fill(nothing, 0.0)

# %% [wrong] max_gives_two_things | torch.max with a dim gives a pair of values and indices, and the pair is subtracted as if it were a tensor. It needs .values or amax: a TypeError.
def stable_softmax(scores, dim=-1):
    peak = torch.max(scores, dim, keepdim=True)
    e = torch.exp(scores - peak)
    s = e.sum(dim, keepdim=True)
    s[s == 0] = 1
    return e / s

# %% [wrong] infinities_mended_first | Replaces minus infinity by the lowest finite number before anything else. A row of nothing but minus infinity then holds equal scores, and becomes uniform (1/K each) in place of zeros.
def stable_softmax(scores, dim=-1):
    scores = torch.nan_to_num(scores)
    shifted = scores - scores.amax(dim=dim, keepdim=True)
    weights = shifted.exp()
    return weights / weights.sum(dim=dim, keepdim=True)

# %% [wrong] sum_always_over_last_axis | Takes the maximum along dim, but sums along the last axis whatever dim says. It is right for dim=-1; for any other dim the result does not sum to 1 along dim.
def stable_softmax(scores, dim=-1):
    top = scores.amax(dim, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0)
    numerator = torch.exp(scores - top)
    denominator = numerator.sum(-1, keepdim=True)
    denominator = denominator.masked_fill(denominator == 0, 1.0)
    return numerator / denominator

# %% [right] slice_by_slice | Cuts the scores into slices along dim and works with lists: the largest by pairwise maximum, then a list of exponentials, Python's sum, and a stack.
def stable_softmax(scores, dim=-1):
    slices = scores.unbind(dim)
    top = slices[0]
    for one in slices[1:]:
        top = torch.maximum(top, one)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    powers = [torch.exp(one - top) for one in slices]
    total = sum(powers)
    total = total + (total == 0)
    return torch.stack([power / total for power in powers], dim=dim)
