# %% [wrong] mask_after_softmax | The weights are multiplied with the mask after the softmax, so what is left no longer sums to 1.
def masked_attention(query, key, value, mask=None):
    weights = stable_softmax(scaled_scores(query, key))
    if mask is not None:
        weights = weights * mask
    return weights @ value, weights


# %% [wrong] hidden_scores_zero | Hidden scores become 0, and exp(0) = 1: hidden keys still get weight.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, 0.0)
    weights = stable_softmax(scores)
    return weights @ value, weights


# %% [wrong] large_negative_number | −1e9 in place of −∞: a query that may attend nowhere has equal scores, and gets even weights in place of zeros.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, -1e9))
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights


# %% [wrong] mended_too_late | NaN is replaced by 0 in the weights only, after the output was computed from them: the output of a query that may attend nowhere is NaN.
def masked_attention(query, key, value, mask=None):
    s = scaled_scores(query, key)
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), float("-inf"))
    w = torch.softmax(s, -1)
    out = w @ value
    return out, torch.nan_to_num(w)


# %% [wrong] truth_of_a_tensor | `if mask:` asks for the truth of a whole tensor, which raises an error for any mask with more than one number.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights


# %% [wrong] fills_what_is_allowed | The mask is read the wrong way round: what may be looked at is hidden.
def masked_attention(query, key, value, mask=None):
    if mask is None:
        return attention(query, key, value)
    scores = scaled_scores(query, key).masked_fill(mask, -math.inf)
    weights = stable_softmax(scores, dim=-1)
    return weights @ value, weights


# %% [right] additive_mask | Makes the additive mask of the text from the bool one, and adds it to the scores.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        additive = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
        additive[~mask] = -math.inf
        scores = scores + additive
    weights = stable_softmax(scores)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights
