# %% [wrong] number_of_keys | it divides by the root of key.shape[-2], the number of keys, in place of d_k = key.shape[-1]; right only where K = d_k
def scaled_scores(query, key):
    how_many = key.size(-2)
    return attention_scores(query, key) / math.sqrt(how_many)

# %% [wrong] no_root | it divides by d_k itself and not by its root, so all scores are too small by √d_k
def scaled_scores(query, key):
    d_k = query.shape[-1]
    return attention_scores(query / d_k, key)

# %% [wrong] twice_scaled | query and key are both divided by √d_k, so the scores are divided by d_k; each side should get only the fourth root, or one side the whole root
def scaled_scores(query, key):
    scale = query.shape[-1] ** -0.5
    return attention_scores(query * scale, key * scale)

# %% [wrong] integer_root | math.isqrt rounds the root down to an integer: for d_k = 3 it divides by 1, for d_k = 8 by 2; only square numbers come out right
def scaled_scores(query, key):
    return attention_scores(query, key) / math.isqrt(query.shape[-1])

# %% [wrong] standardised | it divides by the measured standard deviation of the scores and not by √d_k; the result depends on the other tokens, and a single score gives NaN
def scaled_scores(query, key):
    raw = attention_scores(query, key)
    # variance should be 1 afterwards
    return raw / raw.std()

# %% [wrong] query_count | len(query) is the size of the first axis (the batch, or the number of queries), not the width d_k, so the divisor is wrong unless they happen to agree
def scaled_scores(query, key):
    root = math.sqrt(len(query))
    scores = attention_scores(query, key)
    return scores / root

# %% [right] fourth_roots | each side gets the fourth root of d_k before the product, which is the same as one division by √d_k afterwards
def scaled_scores(query, key):
    share = key.shape[-1] ** -0.25
    return attention_scores(share * query, share * key)
