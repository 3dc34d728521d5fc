# %% [wrong] number_of_keys | takes the root of the number of keys (axis -2 of key) in place of the width of a key (axis -1)
def scaled_scores(query, key):
    scores = attention_scores(query, key)
    return scores / math.sqrt(key.shape[-2])


# %% [wrong] both_sides | divides the query by sqrt(d_k) AND the key by sqrt(d_k), so the scores are divided by d_k in all instead of its root
def scaled_scores(query, key):
    shrink = lambda x: x / x.shape[-1] ** 0.5
    return attention_scores(shrink(query), shrink(key))


# %% [wrong] divides_in_place | div_ scales the caller's query itself: a second call with the same tensor gives other scores (and a leaf that requires a gradient raises)
def scaled_scores(query, key):
    d_k = query.size(-1)
    query.div_(math.sqrt(d_k))
    return query @ key.transpose(-2, -1)


# %% [wrong] three_axes_only | unpacks the shape into batch, queries, width: raises for tensors without a batch or with more than one batch axis
def scaled_scores(query, key):
    batch, n_queries, d_k = query.shape
    scale = 1.0 / math.sqrt(d_k)
    return torch.einsum("...qd,...kd->...qk", query, key) * scale


# %% [wrong] by_length_of_key | divides by the norm (length) of each key vector instead of the root of its width: half a cosine similarity, not scaled scores
def scaled_scores(query, key):
    """The scores, divided by the root of the sum of squares of each key."""
    size_of_key = key.pow(2).sum(dim=-1).sqrt()  # (..., K)
    return attention_scores(query, key) / size_of_key.unsqueeze(-2)


# %% [right] fourth_root | both sides are multiplied by d_k to the power -1/4 before the product
def scaled_scores(query, key):
    quarter = query.shape[-1] ** -0.25
    return attention_scores(query * quarter, key * quarter)
