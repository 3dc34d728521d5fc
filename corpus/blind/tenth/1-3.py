# %% [wrong] clamped_not_shifted | Large scores are cut off at ±80 to keep exp finite, in place of subtracting the largest score. Scores of 10,000 and 9,000 both become 80 and get 0.5 each; it should be 1 and 0.
def stable_softmax(scores, dim=-1):
    hidden = scores == -math.inf
    e = torch.exp(scores.clamp(-80, 80))
    e = e.masked_fill(hidden, 0.0)
    total = e.sum(dim=dim, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)

# %% [wrong] axis_put_back_at_the_end | Maximum and sum are taken along dim, but the lost axis is put back with unsqueeze(-1), always at the end. For dim = -1 it is right; for another dim the shapes do not fit, or a square matrix is silently divided by the wrong sums.
def stable_softmax(scores, dim=-1):
    m = scores.max(dim)[0].unsqueeze(-1)
    m = m.masked_fill(m == -math.inf, 0.0)
    e = torch.exp(scores - m)
    s = e.sum(dim).unsqueeze(-1)
    s = s.masked_fill(s == 0, 1.0)
    return e / s

# %% [wrong] any_hidden_empties_the_row | A row counts as empty as soon as any of its scores is −∞, so a row that is hidden only in part becomes all zeros. Only rows where all scores are −∞ should; the others should still sum to 1.
def stable_softmax(scores, dim=-1):
    empty = torch.isneginf(scores).any(dim=dim, keepdim=True)
    safe = torch.where(empty, torch.zeros_like(scores), scores)
    e = (safe - safe.amax(dim, keepdim=True)).exp()
    p = e / e.sum(dim, keepdim=True)
    return torch.where(empty, torch.zeros_like(p), p)

# %% [wrong] largest_by_magnitude | The largest absolute value is subtracted instead of the largest score. With scores of −10,000 and −9,999 everything is shifted to about −20,000, all exponentials are 0, and the row becomes zeros although nothing is hidden.
def stable_softmax(scores, dim=-1):
    finite = scores.masked_fill(scores == float("-inf"), 0.0)
    biggest = finite.abs().amax(dim=dim, keepdim=True)
    numerator = torch.exp(scores - biggest)
    denominator = numerator.sum(dim=dim, keepdim=True)
    denominator = denominator + (denominator == 0)
    return numerator / denominator

# %% [wrong] row_of_minus_infinity_is_nan | The textbook softmax with the maximum subtracted. A row that is −∞ throughout gives −∞ − (−∞) = NaN; the task wants zeros there.
def stable_softmax(scores, dim=-1):
    shifted = scores - scores.amax(dim=dim, keepdim=True)
    exps = shifted.exp()
    return exps / exps.sum(dim=dim, keepdim=True)

# %% [right] sum_clamped_at_one | Uses that after the shift the sum of a row is at least 1 unless the row is empty, so clamping the sum at 1 replaces the case distinction; the maximum is mended with torch.where.
def stable_softmax(scores, dim=-1):
    top, _ = torch.max(scores, dim, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    powers = torch.exp(scores.sub(top))
    return powers.div(powers.sum(dim, keepdim=True).clamp(min=1))
