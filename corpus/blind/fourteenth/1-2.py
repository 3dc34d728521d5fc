# %% [wrong] root_rounded_down | math.isqrt gives the whole part of the root, so a width that is no square is divided by too small a number.
def scaled_scores(query, key):
    d_k = key.shape[-1]
    return attention_scores(query, key) / math.isqrt(d_k)

# %% [wrong] both_sides_divided | Query and key are each divided by the root of d_k, so that the scores are divided by d_k.
def scaled_scores(query, key):
    root = query.size(-1) ** 0.5
    return attention_scores(query / root, key / root)

# %% [wrong] width_from_axis_one | d_k is read from axis 1: without a batch that is the width, with a batch it is the number of queries.
def scaled_scores(query, key):
    scores = attention_scores(query, key)
    return scores.div(math.sqrt(query.size(1)))
