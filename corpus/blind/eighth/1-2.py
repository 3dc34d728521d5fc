# %% [wrong] second_axis_is_not_the_width | d_k is read as query.shape[1]; it should be query.shape[-1]. Right without a batch; with one the scores are divided by the root of the number of queries.
def scaled_scores(query, key):
    d_k = query.shape[1]
    return attention_scores(query, key) / math.sqrt(d_k)

# %% [wrong] power_before_division | query.shape[-1] ** 1 / 2 is (d_k ** 1) / 2, because the power binds first; it should be ** (1 / 2). The scores are divided by d_k / 2.
def scaled_scores(query, key):
    scale = query.shape[-1] ** 1 / 2
    return attention_scores(query, key) / scale

# %% [wrong] both_sides_by_the_root | Query and key are each divided by √d_k, so that the scores are divided by d_k; one of them should be divided by the root, or both by the fourth root.
def scaled_scores(query, key):
    root = math.sqrt(query.shape[-1])
    query, key = query / root, key / root
    return attention_scores(query, key)

# %% [wrong] whole_number_root | math.isqrt rounds the root down to a whole number; it should be math.sqrt. Right for d_k = 4 or 64; with d_k = 3 nothing is divided at all.
def scaled_scores(query, key):
    *_, d_k = key.shape
    return attention_scores(query, key) / math.isqrt(d_k)

# %% [wrong] divided_by_measured_spread | The scores are divided by their own standard deviation; they should be divided by √d_k. The scale then depends on the data, and on how many keys there are, and is NaN for a single score.
def scaled_scores(query, key):
    scores = attention_scores(query, key)
    # the variance of the scores shall be 1
    return scores / scores.std()

# %% [wrong] width_of_the_scores | The width is taken from scores.shape[-1], which is the number of keys K; it should be that of the query, d_k. Right only where K = d_k.
def scaled_scores(query, key):
    scores = attention_scores(query, key)
    scores = scores * scores.shape[-1] ** -0.5
    return scores

# %% [right] fourth_root_on_both_sides | Query and key are each divided by the fourth root of d_k before the product, so that large numbers never arise; the same scores.
def scaled_scores(query, key):
    share = query.shape[-1] ** 0.25
    return attention_scores(query / share, key / share)
