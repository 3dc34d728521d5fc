# %% [wrong] divides_by_d_k | The scores are divided by d_k itself, the root is missing: for d_k = 3 the first score is 0.667 in place of 1.155.
def scaled_scores(query, key):
    d_k = key.shape[-1]
    scores = attention_scores(query, key)
    return scores / d_k

# %% [wrong] width_is_axis_one | d_k is read from axis 1, counted from the front. For two matrices that is the width; with a batch in front it is the number of queries, and the scores are divided by √Q.
def scaled_scores(query, key):
    d_k = query.size(1)
    return attention_scores(query, key) / d_k ** 0.5

# %% [wrong] only_the_query_is_scaled | The fourth root of d_k is meant to be divided out of both query and key, but only the query gets it. The scores are divided by d_k^(1/4), too little, instead of √d_k.
def scaled_scores(query, key):
    # more stable: scale before the product instead of after it
    quarter = query.shape[-1] ** 0.25
    query = query / quarter
    return attention_scores(query, key)

# %% [wrong] integer_root | math.isqrt rounds the root down to a whole number: for d_k = 64 it is right, for d_k = 3 it divides by 1 and returns the unscaled scores.
def scaled_scores(query, key):
    return attention_scores(query, key) / math.isqrt(query.shape[-1])

# %% [wrong] divided_by_the_inverse | It divides by d_k ** -0.5, which multiplies by √d_k: the scores grow (3.46 in place of 1.155) when they should shrink.
def scaled_scores(query, key):
    scale = query.shape[-1] ** -0.5
    return attention_scores(query, key) / scale

# %% [right] power_and_mul | Multiplies by the inverse root, computed with math.pow from the size of the keys' last axis.
def scaled_scores(query, key):
    *_, width = key.size()
    return torch.mul(attention_scores(query, key), math.pow(width, -0.5))
