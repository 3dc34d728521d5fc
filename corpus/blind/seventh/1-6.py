# %% [wrong] renormalised_afterwards | The weights are masked after the softmax and divided by what is left; for a query that may attend nowhere that is 0/0, so its weights and output are NaN and not zero.
def masked_attention(query, key, value, mask=None):
    weights = stable_softmax(scaled_scores(query, key))
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] lowest_number_for_infinity | Hidden scores become the smallest finite number instead of −∞; where a query may attend nowhere all scores are then equal, and it gets even weights instead of zeros.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] mask_as_index | scores[~mask] = −∞ indexes and does not broadcast: a mask (Q, K) or (B, 1, K) on scores (B, Q, K) raises an IndexError; masked_fill broadcasts.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.clone()
        scores[~mask] = -math.inf
    w = stable_softmax(scores)
    return w @ value, w

# %% [wrong] bool_mask_added | The bool mask is added to the scores like an additive mask, so allowed keys get 1 more and hidden ones stay; it should become 0 and −∞ first.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores + mask
    weights = stable_softmax(scores, dim=-1)
    output = weights @ value
    return output, weights

# %% [wrong] weights_stay_nan | torch.softmax gives NaN for a fully hidden row; only the output is mended with nan_to_num, the weights go back with NaN in them.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    output = torch.nan_to_num(weights @ value)
    return output, weights

# %% [wrong] truth_of_a_tensor | "if mask:" asks a tensor of many numbers for one truth value, which raises a RuntimeError; it should be "if mask is not None".
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [right] where_allowed | one torch.where for both cases; no mask is a single True that broadcasts
def masked_attention(query, key, value, mask=None):
    allowed = torch.ones((), dtype=torch.bool, device=query.device) if mask is None else mask
    scores = scaled_scores(query, key)
    weights = stable_softmax(torch.where(allowed, scores, torch.full_like(scores, -math.inf)))
    return weights @ value, weights
