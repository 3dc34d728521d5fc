# %% [wrong] root_of_number_of_keys | Divides by the root of the number of keys (key.shape[-2]) and not of their width. It is right only where there are as many keys as d_k.
def scaled_scores(query, key):
    scores = attention_scores(query, key)
    return scores / math.sqrt(key.shape[-2])


# %% [wrong] width_from_axis_one | Takes the width from axis 1 and not from the last one. Without a batch that is d_k; with a batch axis 1 is the number of queries, and the scores are divided by the wrong root.
def scaled_scores(query, key):
    d_k = query.size(1)
    return attention_scores(query, key) / d_k**0.5


# %% [wrong] multiplies_by_the_root | Multiplies the scores by the root of d_k where it should divide. The scores are too large by the factor d_k.
def scaled_scores(query, key):
    scale = math.sqrt(query.shape[-1])
    return attention_scores(query, key) * scale


# %% [wrong] whole_number_root | Cuts the root down to a whole number with int(). For d_k = 4 or 64 it is right; for d_k = 3 it divides by 1 and for d_k = 8 by 2.
def scaled_scores(query, key):
    *_, d_k = key.shape
    root = int(d_k**0.5)
    return attention_scores(query, key) / root


# %% [wrong] both_sides_by_the_root | Divides the queries by the root and the keys by the root as well. Together that is a division by d_k and not by its root; the fourth root would be needed on each side.
def scaled_scores(query, key):
    root = math.sqrt(query.shape[-1])
    return attention_scores(query / root, key / root)


# %% [right] fourth_root_on_each_side | Scales both sides by the fourth root before the product instead of the scores after it.
def scaled_scores(query, key):
    quarter = key.shape[-1] ** -0.25
    return attention_scores(quarter * query, quarter * key)
