# %% [wrong] one_maximum_for_the_whole_tensor | The largest number of the whole tensor is subtracted, not that of each row: where a row lies far below it, all exponentials are rounded to 0.
def stable_softmax(scores, dim=-1):
    largest = scores.max()
    if largest == -math.inf:
        largest = torch.zeros_like(largest)
    powers = torch.exp(scores - largest)
    total = powers.sum(dim, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)

# %% [wrong] subtracted_from_the_callers_scores | The largest score is subtracted in place, so the scores that the caller handed in are changed.
def stable_softmax(scores, dim=-1):
    largest = scores.amax(dim, keepdim=True)
    largest = torch.where(torch.isinf(largest), torch.zeros_like(largest), largest)
    scores -= largest
    powers = scores.exp()
    total = powers.sum(dim, keepdim=True)
    return powers / torch.where(total > 0, total, torch.ones_like(total))

# %% [wrong] hidden_means_minus_ten_thousand | −∞ is replaced by −10,000, which is a score like any other: beside a score of −10,000 a hidden key gets as much weight.
def stable_softmax(scores, dim=-1):
    hidden = scores == float("-inf")
    finite = scores.masked_fill(hidden, -10_000.0)
    shifted = finite - finite.amax(dim=dim, keepdim=True)
    weights = shifted.exp() / shifted.exp().sum(dim=dim, keepdim=True)
    return weights.masked_fill(hidden.all(dim=dim, keepdim=True), 0.0)
