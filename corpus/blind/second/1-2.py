# %% [right] fourth_root_on_both | right
def scaled_scores(query, key):
    shrink = key.size(-1) ** -0.25
    return attention_scores(query * shrink, key * shrink)

# %% [wrong] divided_by_d_k | The root is missing: it divides by d_k.
def scaled_scores(query, key):
    return attention_scores(query, key) / query.shape[-1]

# %% [wrong] number_of_keys | It divides by the root of the number of keys.
def scaled_scores(query, key):
    return attention_scores(query, key) / math.sqrt(key.shape[-2])

# %% [wrong] multiplied | It multiplies by the root instead of dividing.
def scaled_scores(query, key):
    return attention_scores(query, key) * math.sqrt(query.shape[-1])

# %% [wrong] unscaled | The division is forgotten.
def scaled_scores(query, key):
    scores = attention_scores(query, key)
    scores / math.sqrt(query.shape[-1])
    return scores

# %% [wrong] root_of_three | The root of the example's width, 3, is written into the code.
def scaled_scores(query, key):
    return attention_scores(query, key) / math.sqrt(3)

# %% [wrong] scaled_twice | Query and key are each divided by the root, so the scores are divided by d_k.
def scaled_scores(query, key):
    root = math.sqrt(query.shape[-1])
    return attention_scores(query / root, key / root)

# %% [wrong] integer_root | The root is rounded to an integer (math.isqrt).
def scaled_scores(query, key):
    return attention_scores(query, key) / math.isqrt(query.shape[-1])

# %% [wrong] in_place | The query is divided in place (/=), which changes the caller's tensor.
def scaled_scores(query, key):
    query /= math.sqrt(query.shape[-1])
    return attention_scores(query, key)
