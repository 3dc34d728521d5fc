# %% [wrong] hidden_score_zero | hidden scores are set to 0 before the softmax instead of −∞: exp(0) = 1, so hidden keys keep a share of the weight
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores * mask
    weights = stable_softmax(scores)
    return weights @ value, weights


# %% [wrong] minus_a_billion | a large finite number takes the place of −∞: rows that are hidden in part are right, but where a query may attend nowhere all scores are equal and the weights are uniform instead of zero
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = torch.softmax(scores, dim=-1)
    output = torch.matmul(weights, value)
    return output, weights


# %% [wrong] index_does_not_broadcast | the scores are hidden by boolean indexing, which demands a mask of the same leading shape and does not broadcast: a padding mask (B, 1, K), or a causal mask with a batch, raises IndexError
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key).clone()
    if mask is not None:
        scores[~mask] = float("-inf")
    weights = stable_softmax(scores)
    return weights @ value, weights


# %% [wrong] zero_times_infinity | the additive mask is made by multiplying −∞ with 0 and 1: 0 · −∞ is NaN, so every allowed score becomes NaN
def masked_attention(query, key, value, mask=None):
    additive = 0.0 if mask is None else (1 - mask.to(query.dtype)) * -math.inf
    weights = stable_softmax(scaled_scores(query, key) + additive)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights


# %% [wrong] mended_too_late | the NaN of a row that may attend nowhere is mended in the weights only, after the output was computed from them: the weights are zeros, the output stays NaN
def masked_attention(query, key, value, mask=None):
    if mask is None:
        return attention(query, key, value)
    bias = torch.zeros_like(mask, dtype=query.dtype).masked_fill(~mask, -math.inf)
    weights = (scaled_scores(query, key) + bias).softmax(dim=-1)
    output = weights @ value
    weights = torch.nan_to_num(weights, nan=0.0)
    return output, weights


# %% [right] always_a_mask | no branch in the computation: a missing mask becomes a single True, hidden scores are chosen with where, and the mixing is an einsum
def masked_attention(query, key, value, mask=None):
    allowed = torch.ones((), dtype=torch.bool, device=query.device) if mask is None else mask
    scores = scaled_scores(query, key)
    nothing = torch.full((), -math.inf, dtype=scores.dtype, device=scores.device)
    weights = stable_softmax(torch.where(allowed, scores, nothing))
    return torch.einsum("...qk,...kv->...qv", weights, value), weights
