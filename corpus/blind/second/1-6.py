# %% [right] additive_and_mended | right
def masked_attention(query, key, value, mask=None):
    if mask is None:
        mask = torch.ones(1, dtype=torch.bool, device=query.device)
    extra = torch.zeros(mask.shape, dtype=query.dtype, device=query.device).masked_fill(mask.logical_not(), -torch.inf)
    weights = torch.softmax(scaled_scores(query, key) + extra, dim=-1)
    weights = torch.where(weights.isnan(), torch.zeros_like(weights), weights)
    return torch.matmul(weights, value), weights

# %% [wrong] mask_inverted | The ~ is missing, so exactly the allowed keys are hidden.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] hidden_score_zero | Hidden scores become 0 instead of minus infinity, and still get weight.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, 0.0)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] multiplied_afterwards | The weights are multiplied by the mask after the softmax, so rows no longer sum to 1.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    weights = stable_softmax(scores)
    if mask is not None:
        weights = weights * mask
    return weights @ value, weights

# %% [wrong] not_reassigned | masked_fill returns a new tensor that is not assigned, so nothing is masked.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] nan_for_nowhere | torch.softmax is used, so a query that may attend nowhere gets NaN.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% [wrong] uniform_for_nowhere | Hidden scores become -1e9, so a query that may attend nowhere looks at all keys alike.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] mask_added | The bool mask is added to the scores as 0 and 1.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores + mask
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] weights_unmasked | Only the output is masked (after the softmax); the returned weights are those without a mask.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    weights = stable_softmax(scores)
    if mask is None:
        return weights @ value, weights
    return weights.masked_fill(~mask, 0.0) @ value, weights

# %% [wrong] transposed_mask | The mask is transposed before it is used.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask.transpose(-2, -1), -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] unscaled | attention_scores is used, so the root of d_k is missing.
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] small_negative | Hidden scores become -10, which leaves them a small weight.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -10.0)
    weights = stable_softmax(scores)
    return weights @ value, weights
