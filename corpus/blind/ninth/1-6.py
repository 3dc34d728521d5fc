# %% [wrong] bool_index_does_not_broadcast | Writes minus infinity by indexing with the mask. Indexing does not broadcast: a mask (T, T) or (B, 1, n) on batched scores is an IndexError (or hits other places). masked_fill or where would broadcast.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores[~mask] = -math.inf
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] zero_times_infinity | Makes the additive mask by multiplying the forbidden places with minus infinity. Where looking is allowed that is 0 times infinity, which is NaN and not 0: the allowed scores are destroyed.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        forbidden = (~mask).to(scores.dtype)
        scores = scores + forbidden * -math.inf
    weights = stable_softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights

# %% [wrong] nan_mended_in_output_alone | Uses torch.softmax, and replaces NaN in the output alone. A query that may attend nowhere gets a zero output as it should, but its weights come back as NaN in place of zeros.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    scores = torch.where(mask, scores, torch.full_like(scores, float("-inf")))
    weights = torch.softmax(scores, dim=-1)
    output = torch.nan_to_num(weights @ value)
    return output, weights

# %% [wrong] minus_a_billion | Hides with -1e9 in place of minus infinity. That works as long as something may be seen; a query that may attend nowhere has equal scores and spreads its weight evenly over what is hidden, where zeros are asked for.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -1e9)
    weights = stable_softmax(scores)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights

# %% [wrong] causal_if_nothing_is_said | Takes a causal mask where none is given. Without a mask it should be the attention of 1.4, which looks everywhere.
def masked_attention(query, key, value, mask=None):
    if mask is None:
        mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
    scores = scaled_scores(query, key).masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] map_from_before_the_mask | The output is mixed with masked weights, but the map that comes back is the one from before the mask. Hidden keys seem to have weight.
def masked_attention(query, key, value, mask=None):
    output, weights = attention(query, key, value)
    if mask is not None:
        hidden = scaled_scores(query, key).masked_fill(~mask, -math.inf)
        output = stable_softmax(hidden) @ value
    return output, weights

# %% [right] adds_the_log_of_the_mask | Adds the logarithm of the mask (0 for True, minus infinity for False) to the scores; no masked_fill and no where.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    weights = stable_softmax(scores if mask is None else scores + mask.to(scores.dtype).log())
    return weights @ value, weights
