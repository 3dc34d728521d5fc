# %% [wrong] hidden_scores_zero | the scores are multiplied by the mask, so a hidden score becomes 0 and still gets exp(0) = 1; it should become −∞
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores * mask
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] large_negative | hidden scores become -1e9 and not −∞; where a query may attend nowhere all scores are equal and it gets even weights, where zeros are asked
def masked_attention(query, key, value, mask=None):
    s = scaled_scores(query, key)
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    w = torch.softmax(s, dim=-1)
    return w @ value, w

# %% [wrong] nan_in_empty_rows | torch.softmax of a row of −∞ is NaN; stable_softmax, which gives zeros there, should have been used
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, -math.inf))
    weights = torch.softmax(scores, -1)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights

# %% [wrong] not_renormalised | the mask is multiplied onto the weights after the softmax, so the rows sum to less than 1 where something is hidden; it should come before
def masked_attention(query, key, value, mask=None):
    _, weights = attention(query, key, value)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value, weights

# %% [wrong] added_as_it_is | the bool mask is added to the scores, which gives allowed keys +1 and hides nothing; an additive mask would need 0 and −∞
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores + mask.to(scores.dtype)  # additive mask
    weights = stable_softmax(scores, dim=-1)
    output = weights @ value
    return output, weights

# %% [wrong] always_causal | without a mask it hides the future with causal_mask (and does not even fit where Q ≠ K); mask=None should mean the plain attention of 1.4
def masked_attention(query, key, value, mask=None):
    if mask is None:
        mask = causal_mask(query.shape[-2]).to(query.device)
    scores = scaled_scores(query, key).masked_fill(mask.logical_not(), float("-inf"))
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [right] additive_penalty | the bool mask is turned into an additive one, 0 or −∞ in the dtype of the scores, and added
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        penalty = torch.zeros_like(mask, dtype=scores.dtype).masked_fill(mask.logical_not(), -math.inf)
        scores = scores + penalty
    weights = stable_softmax(scores)
    return weights @ value, weights
