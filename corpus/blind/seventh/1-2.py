# %% [wrong] size_of_axis_one | d_k is read as query.size(1), which is the width only without a batch; with a batch (B, Q, d_k) it is the number of queries, so the scale is wrong.
def scaled_scores(query, key):
    d_k = query.size(1)
    return attention_scores(query, key) / math.sqrt(d_k)

# %% [wrong] root_on_both_sides | Query and key are each divided by the root of d_k, so the scores are divided by d_k and not by its root.
def scaled_scores(query, key):
    root = math.sqrt(key.shape[-1])
    return attention_scores(query / root, key / root)

# %% [wrong] divided_by_measured_spread | The scores are divided by their own standard deviation instead of the root of d_k; the result depends on all other scores, and the example does not come out.
def scaled_scores(query, key):
    # the variance shall be 1 afterwards
    s = attention_scores(query, key)
    return s / s.std()

# %% [wrong] power_before_division | d ** 1 / 2 is read by Python as (d ** 1) / 2 and the whole line as scores / d / 2; brackets around 1 / 2 are missing, so scores are divided by 2·d_k.
def scaled_scores(query, key):
    d = query.shape[-1]
    return attention_scores(query, key) / d ** 1 / 2

# %% [wrong] query_scaled_in_place | query /= root changes the tensor of the caller; called with the same tensor as query and key both are scaled, and a query that requires a gradient raises an error.
def scaled_scores(query, key):
    query /= math.sqrt(query.shape[-1])
    return attention_scores(query, key)

# %% [wrong] integer_root | math.isqrt cuts the root down to a whole number, so d_k = 3 is divided by 1 and d_k = 8 by 2; math.sqrt is needed.
def scaled_scores(query, key):
    width = key.shape[-1]
    return attention_scores(query, key) / math.isqrt(width)

# %% [right] query_scaled_first | scales a copy of the queries by d_k to the power of minus one half before the product
def scaled_scores(query, key):
    return attention_scores(query * query.shape[-1] ** -0.5, key)
