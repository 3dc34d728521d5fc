# %% [wrong] very_small_number | hides with the smallest finite number instead of -inf: a query that may attend nowhere has equal scores everywhere and gets uniform weights, not zeros
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask == False, torch.finfo(scores.dtype).min)  # noqa: E712
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% [wrong] renormalised_afterwards | multiplies the weights by the mask and divides by the new sum; for a query that may attend nowhere this is 0 / 0, so weights and output are NaN
def masked_attention(query, key, value, mask=None):
    output, weights = attention(query, key, value)
    if mask is None:
        return output, weights
    kept = weights * mask
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return kept @ value, kept


# %% [wrong] boolean_index | hides by indexing scores with the mask, which needs a mask of exactly the shape of the scores: a mask (Q, K) or (B, 1, K) that should broadcast over a batch raises an IndexError
def masked_attention(query, key, value, mask=None):
    s = scaled_scores(query, key)
    if mask is not None:
        s[~mask] = float("-inf")
    w = stable_softmax(s)
    return torch.einsum("...qk,...kv->...qv", w, value), w


# %% [wrong] score_zero | a hidden score becomes 0 rather than -inf (scores times mask): exp(0) = 1, so hidden keys keep a share
def masked_attention(query, key, value, mask=None):
    allowed = 1 if mask is None else mask.to(query.dtype)
    weights = stable_softmax(scaled_scores(query, key) * allowed)
    return torch.matmul(weights, value), weights


# %% [wrong] nan_in_weights | the NaN of a query that may attend nowhere is removed from the output alone; its weights still come back as NaN
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is None:
        weights = F.softmax(scores, dim=-1)
        return weights @ value, weights
    bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
    bias[mask.logical_not()] = -math.inf
    weights = F.softmax(scores + bias, dim=-1)
    output = weights @ value
    blind = ~mask.any(dim=-1, keepdim=True)
    return output.masked_fill(blind, 0.0), weights


# %% [right] log_of_the_mask | the logarithm of the mask (0 or -inf) is added to the scores
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    additive = 0.0 if mask is None else torch.log(mask.to(scores.dtype))
    weights = stable_softmax(scores + additive, dim=-1)
    return torch.matmul(weights, value), weights
