# %% [wrong] mask_inverted | Fills −∞ where the mask is True, so it looks exactly where it should not.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] scores_times_mask | Multiplies the scores by the mask: a hidden score becomes 0, and exp(0) = 1 still gets weight.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores * mask
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] no_renormalising | Multiplies the weights by the mask after the softmax; the rows no longer add up to 1.
def masked_attention(query, key, value, mask=None):
    _, weights = attention(query, key, value)
    weights = weights if mask is None else torch.where(mask, weights, torch.zeros_like(weights))
    return torch.matmul(weights, value), weights

# %% [wrong] zero_over_zero | Renormalises the masked weights by their sum, which is 0 for a query that may attend nowhere: NaN.
def masked_attention(query, key, value, mask=None):
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return torch.einsum("...qk,...kd->...qd", weights, value), weights

# %% [wrong] minus_one_billion | Hides with −1e9 in place of −∞: a query that may attend nowhere looks at everything alike in place of getting zeros.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, -1e9))
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] boolean_index | Writes −∞ through a boolean index, which does not broadcast: a mask (T, T) or (B, 1, S) on scores with a batch raises an error.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key).clone()
    if mask is not None:
        scores[~mask] = float("-inf")
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [right] additive_mask | Turns the bool mask into numbers that are added, uses torch.softmax, and empties the rows without any True.
def masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(key.shape[-1])
    if mask is None:
        weights = scores.softmax(-1)
    else:
        added = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
        added = added.masked_fill(mask.logical_not(), float("-inf"))
        nowhere = mask.logical_not().all(dim=-1, keepdim=True)
        added = torch.where(nowhere, torch.zeros_like(added), added)
        weights = (scores + added).softmax(-1)
        weights = torch.where(nowhere, torch.zeros_like(weights), weights)
    return weights @ value, weights
