# %% [wrong] large_negative_number | Hidden scores become −1e9 in place of −∞. Where some keys are visible that is as good; a query that may attend nowhere gets even weights of 1/K on hidden keys, where it should get zeros.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% [wrong] hides_what_is_allowed | masked_fill hides where the mask is True, as if True meant "may not attend". In this course True = may attend, so it should be ~mask.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = stable_softmax(scores)
    return torch.matmul(weights, value), weights

# %% [wrong] softmax_then_renormalise | The softmax runs over all keys, then the hidden weights are set to 0 and the rest is divided by its sum. Where a hidden key has a much larger score than the visible ones, their weights have underflowed to 0, and the row is empty although keys are allowed.
def masked_attention(query, key, value, mask=None):
    _, weights = attention(query, key, value)
    if mask is not None:
        weights = weights * mask
        rest = weights.sum(-1, keepdim=True)
        weights = weights / torch.where(rest > 0, rest, torch.ones_like(rest))
    return weights @ value, weights

# %% [wrong] only_a_wholly_empty_mask | The zeros are given only when the whole mask is False. As soon as some other query may attend somewhere, a query that may attend nowhere gets NaN from torch.softmax.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is None:
        weights = scores.softmax(dim=-1)
    elif not mask.any():
        weights = torch.zeros_like(scores)
    else:
        weights = scores.masked_fill(mask.logical_not(), -torch.inf).softmax(dim=-1)
    return weights @ value, weights

# %% [wrong] multiplied_afterwards | The weights are multiplied with the mask after the softmax and not shared out anew: the rows of a causal mask add up to less than 1. The mask should come before the softmax.
def masked_attention(query, key, value, mask=None):
    output, weights = attention(query, key, value)
    if mask is None:
        return output, weights
    weights = weights * mask.to(weights.dtype)
    return weights @ value, weights

# %% [right] logarithm_of_the_mask | Adds log(mask), which is 0 for True and −∞ for False, and lets stable_softmax make zeros of an empty row.
def masked_attention(query, key, value, mask=None):
    fit = scaled_scores(query, key)
    if mask is not None:
        fit = fit + mask.to(fit.dtype).log()
    share = stable_softmax(fit, dim=-1)
    return torch.einsum("...qk,...kv->...qv", share, value), share
