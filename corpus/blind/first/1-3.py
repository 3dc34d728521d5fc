# %% [wrong] no_max_subtracted | the largest score is not subtracted before exp, so large scores overflow to inf/inf = NaN
def stable_softmax(scores, dim=-1):
    e = torch.exp(scores)
    total = e.sum(dim=dim, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    return e / total
# %% [wrong] global_maximum | subtracts the largest score of the whole tensor, not of each row along dim: rows far below it underflow to zeros
def stable_softmax(scores, dim=-1):
    largest = scores.max()
    if largest == -math.inf:
        largest = 0.0
    e = (scores - largest).exp()
    s = e.sum(dim, keepdim=True)
    return e / torch.where(s == 0, torch.ones_like(s), s)
# %% [wrong] ignores_dim | dim is ignored: maximum and sum always run along the last axis
def stable_softmax(scores, dim=-1):
    m = scores.amax(-1, keepdim=True)
    m = m.masked_fill(m == -math.inf, 0.0)
    e = torch.exp(scores - m)
    z = e.sum(-1, keepdim=True)
    z = z.masked_fill(z == 0, 1.0)
    return e / z
# %% [wrong] keepdim_forgotten | keepdim=True is missing for the maximum and the sum, so they do not line up with the scores again
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    e = torch.exp(scores - largest)
    total = e.sum(dim)
    total = total.masked_fill(total == 0, 1.0)
    return e / total
# %% [wrong] hidden_row_is_nan | a row of -inf is not treated: -inf minus -inf gives NaN instead of zeros
def stable_softmax(scores, dim=-1):
    shifted = scores - scores.max(dim=dim, keepdim=True).values
    e = shifted.exp()
    return e / e.sum(dim=dim, keepdim=True)
# %% [wrong] hidden_row_divides_by_zero | the maximum of a row of -inf is mended, but its sum is 0 and is still divided by: 0/0 gives NaN
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim, keepdim=True)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    exps = torch.exp(scores - largest)
    return exps / exps.sum(dim, keepdim=True)
# %% [wrong] default_dim_zero | the default of dim is 0 instead of -1
def stable_softmax(scores, dim=0):
    biggest = scores.amax(dim, keepdim=True)
    biggest = torch.where(torch.isneginf(biggest), torch.zeros_like(biggest), biggest)
    e = torch.exp(scores - biggest)
    total = e.sum(dim, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)
# %% [wrong] large_epsilon | 1e-3 is added to every denominator against division by zero, so all rows sum to less than 1
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim, keepdim=True)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    e = torch.exp(scores - largest)
    return e / (e.sum(dim, keepdim=True) + 1e-3)
# %% [wrong] neginf_to_finite | -inf is replaced by a large negative number first, so a row of -inf becomes uniform instead of zeros
def stable_softmax(scores, dim=-1):
    scores = torch.nan_to_num(scores, neginf=-1e30)
    scores = scores - scores.amax(dim, keepdim=True)
    e = scores.exp()
    return e / e.sum(dim, keepdim=True)
# %% [wrong] clamped_scores | the scores are clamped to ±50 against overflow, so different large scores become equal
def stable_softmax(scores, dim=-1):
    clipped = scores.clamp(-50, 50).masked_fill(scores == -math.inf, -math.inf)
    e = torch.exp(clipped)
    s = e.sum(dim, keepdim=True)
    return e / s.masked_fill(s == 0, 1.0)
# %% [wrong] builtin_softmax | calls the ready-made torch.softmax, which is not allowed here; it should be written with exp, sums and maxima
def stable_softmax(scores, dim=-1):
    hidden = (scores == -math.inf).all(dim=dim, keepdim=True)
    safe = scores.masked_fill(hidden, 0.0)
    return torch.softmax(safe, dim=dim).masked_fill(hidden, 0.0)
# %% [wrong] builtin_logsumexp | calls torch.logsumexp, which is not allowed here
def stable_softmax(scores, dim=-1):
    empty = (scores == -math.inf).all(dim, keepdim=True)
    x = torch.where(empty, torch.zeros_like(scores), scores)
    p = torch.exp(x - torch.logsumexp(x, dim=dim, keepdim=True))
    return p.masked_fill(empty, 0.0)
# %% [wrong] inplace_subtraction | scores -= changes the caller's scores in place
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim, keepdim=True)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    scores -= largest
    e = scores.exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)
# %% [wrong] hidden_row_uniform | a row whose scores are all -inf is given uniform weights 1/n instead of zeros
def stable_softmax(scores, dim=-1):
    m = scores.amax(dim, keepdim=True)
    dead = m == -math.inf
    e = torch.exp(scores - m.masked_fill(dead, 0.0))
    n = scores.shape[dim]
    e = torch.where(dead, torch.full_like(e, 1 / n), e)
    return e / e.sum(dim, keepdim=True)
# %% [wrong] subtracts_minimum | the smallest score is subtracted instead of the largest, so exp still overflows
def stable_softmax(scores, dim=-1):
    low = scores.amin(dim, keepdim=True)
    low = low.masked_fill(low == -math.inf, 0.0)
    e = torch.exp(scores - low)
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)
# %% [wrong] sum_over_everything | divides by the sum over the whole tensor, so not each row sums to 1
def stable_softmax(scores, dim=-1):
    top = scores.amax(dim, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0)
    e = torch.exp(scores - top)
    total = e.sum()
    if total == 0:
        return e
    return e / total
# %% [wrong] log_returned | returns the logarithm of the softmax (score minus log-sum), the last exp is missing
def stable_softmax(scores, dim=-1):
    m = scores.amax(dim, keepdim=True)
    m = m.masked_fill(m == -math.inf, 0.0)
    shifted = scores - m
    s = shifted.exp().sum(dim, keepdim=True)
    s = s.masked_fill(s == 0, 1.0)
    return shifted - s.log()
# %% [wrong] neginf_scores_become_zero | -inf is replaced by 0 in the scores instead of in the maximum, so hidden keys count with exp(0) = 1
def stable_softmax(scores, dim=-1):
    scores = scores.masked_fill(scores == -math.inf, 0.0)
    largest = scores.amax(dim, keepdim=True)
    e = torch.exp(scores - largest)
    return e / e.sum(dim, keepdim=True)
# %% [wrong] max_pair_not_unpacked | scores.max(dim, keepdim=True) gives a pair of values and indices; it is used like a tensor and raises AttributeError
def stable_softmax(scores, dim=-1):
    biggest = scores.max(dim, keepdim=True)
    biggest = biggest.masked_fill(biggest == -math.inf, 0.0)
    e = torch.exp(scores - biggest)
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)
# %% [wrong] double_precision_returned | the scores are converted to float64 for accuracy and never converted back, so the dtype changes
def stable_softmax(scores, dim=-1):
    x = scores.double()
    m = x.amax(dim, keepdim=True)
    m = m.masked_fill(m == -math.inf, 0.0)
    e = torch.exp(x - m)
    z = e.sum(dim, keepdim=True)
    return e / z.masked_fill(z == 0, 1.0)
# %% [wrong] only_all_hidden | zeros come only if the whole tensor is -inf; a single row of -inf among others still gives NaN
def stable_softmax(scores, dim=-1):
    if (scores == float("-inf")).all():
        return torch.zeros_like(scores)
    e = torch.exp(scores - scores.amax(dim=dim, keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)
# %% [wrong] if_on_tensor | a Python if tests a tensor of several maxima, which raises "Boolean value of Tensor is ambiguous"
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim, keepdim=True)
    if largest == -math.inf:
        return torch.zeros_like(scores)
    e = torch.exp(scores - largest)
    return e / e.sum(dim, keepdim=True)
# %% [wrong] maximum_at_least_zero | the maximum is clamped at 0 from below, so rows of large negative scores underflow to all zeros
def stable_softmax(scores, dim=-1):
    # -inf -> 0
    largest = scores.amax(dim, keepdim=True).clamp(min=0)
    e = torch.exp(scores - largest)
    total = e.sum(dim, keepdim=True)
    total = torch.where(total == 0, torch.ones_like(total), total)
    return e / total
# %% [wrong] sum_along_other_axis | the maximum is taken along dim, but the sum always along the last axis
def stable_softmax(scores, dim=-1):
    a = scores.amax(dim=dim, keepdim=True)
    a = a.masked_fill(a == -math.inf, 0.0)
    e = (scores - a).exp()
    b = e.sum(dim=-1, keepdim=True)
    b = b.masked_fill(b == 0, 1.0)
    return e / b
# %% [right] clamps_of_max_and_sum | clamps the maximum at the smallest finite number, and the sum at 1, which it reaches unless all is hidden
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)
    e = torch.exp(scores - largest)
    return e / e.sum(dim, keepdim=True).clamp(min=1.0)
# %% [right] move_axis_last | moves the axis to the end, works there, and moves it back; hidden rows treated with where
def stable_softmax(scores, dim=-1):
    x = scores.movedim(dim, -1)
    m = x.max(dim=-1, keepdim=True).values.detach()
    m = torch.where(m == -math.inf, torch.zeros_like(m), m)
    e = (x - m).exp()
    z = e.sum(dim=-1, keepdim=True)
    z = torch.where(z == 0, torch.ones_like(z), z)
    return (e / z).movedim(-1, dim)
# %% [right] hidden_rows_replaced_first | replaces wholly hidden rows by 0 before, and their weights by 0 after
def stable_softmax(scores, dim=-1):
    nothing = (scores == -math.inf).all(dim=dim, keepdim=True)
    safe = scores.masked_fill(nothing, 0.0)
    e = torch.exp(safe - torch.amax(safe, dim=dim, keepdim=True))
    p = e / torch.sum(e, dim=dim, keepdim=True)
    return p.masked_fill(nothing, 0.0)
