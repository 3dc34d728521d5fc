# %% [wrong] one_maximum_for_all | it subtracts the largest score of the whole tensor, not of each row along dim; a row that lies 10,000 below underflows to the sum 0 and becomes zeros
def stable_softmax(scores, dim=-1):
    top = scores.max()
    if top == -math.inf:
        return torch.zeros_like(scores)
    e = (scores - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / torch.where(total > 0, total, torch.ones_like(total))

# %% [wrong] clamped_scores | it clamps scores to ±50 in place of subtracting the maximum; 10,000 and 9,000 both become 50 and share the weight half and half, where it should be 1 and 0
def stable_softmax(scores, dim=-1):
    hidden = scores == -math.inf
    e = scores.clamp(-50, 50).exp().masked_fill(hidden, 0.0)
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)

# %% [wrong] forgot_the_axis | every reduction runs over the last axis (-1) and the argument dim is never used, so dim=0 gives the softmax along the wrong axis
def stable_softmax(scores, dim=-1):
    largest = scores.amax(-1, keepdim=True)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    e = torch.exp(scores - largest)
    total = e.sum(-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)

# %% [wrong] uniform_for_empty | a row of −∞ gets 1/n in every place, an even map, where the task wants zeros
def stable_softmax(scores, dim=-1):
    m, _ = torch.max(scores, dim=dim, keepdim=True)
    e = torch.exp(scores - m)
    p = e / e.sum(dim=dim, keepdim=True)
    return torch.where(torch.isnan(p), torch.full_like(p, 1 / scores.shape[dim]), p)

# %% [wrong] largest_absolute | it subtracts the largest absolute value: a row of [-10000, -10001] is moved to about -20000, all exponentials are 0 and the row becomes zeros in place of [0.731, 0.269]
def stable_softmax(scores, dim=-1):
    finite = scores.masked_fill(scores == -math.inf, 0.0)
    biggest = finite.abs().amax(dim, keepdim=True)
    numerators = (scores - biggest).exp()
    denominators = numerators.sum(dim, keepdim=True)
    return numerators / denominators.masked_fill(denominators == 0, 1.0)

# %% [wrong] lost_axis | amax and sum lack keepdim=True, so along the last axis a (2, 3) tensor raises an error and a square one subtracts the maximum of another row from each column AND a row of −∞ is not treated and gives NaN
def stable_softmax(scores, dim=-1):
    shifted = scores - scores.amax(dim)
    powers = torch.exp(shifted)
    return powers / powers.sum(dim)

# %% [right] clamp_the_total | the largest exponential of a row is exactly 1, so a total below 1 can only be the 0 of an empty row: clamp(min=1) does the case distinction
def stable_softmax(scores, dim=-1):
    peak = scores.amax(dim, keepdim=True)
    peak = torch.where(torch.isneginf(peak), torch.zeros_like(peak), peak)
    powers = (scores - peak).exp()
    return powers / powers.sum(dim, keepdim=True).clamp(min=1.0)
