# %% [wrong] number_of_keys | The root is taken of key.shape[-2], the number of keys K, and not of d_k: in the example it divides by √2 instead of √3
def scaled_scores(query, key):
    n_keys = key.shape[-2]
    return attention_scores(query, key) / math.sqrt(n_keys)

# %% [wrong] without_root | Each side is divided by √d_k, so the scores are divided by d_k in all, not by √d_k
def scaled_scores(query, key):
    s = math.sqrt(query.shape[-1])
    # scale both so that it is symmetric
    return attention_scores(query / s, key / s)

# %% [wrong] integer_root | math.isqrt rounds the root down to an integer: for d_k = 3 it divides by 1 instead of 1.732
def scaled_scores(query, key):
    *_, d_k = key.shape
    return attention_scores(query, key) / math.isqrt(d_k)

# %% [wrong] fixed_axis_1 | d_k is read from query.shape[1], which with a batch is the number of queries Q and not the width; it should be shape[-1]
def scaled_scores(query, key):
    root = query.shape[1] ** 0.5
    return attention_scores(query, key) / root

# %% [wrong] divide_by_inverse | It divides by d_k ** -0.5, which multiplies by √d_k: the example's 2 becomes 3.464 instead of 1.155
def scaled_scores(query, key):
    scale = query.size(-1) ** -0.5
    return attention_scores(query, key) / scale

# %% [wrong] measured_std | The scores are divided by their own standard deviation instead of √d_k: the factor depends on the data, not on the width
def scaled_scores(query, key):
    raw = attention_scores(query, key)
    return raw / raw.std()   # bring the variance back to 1

# %% [right] scale_query_first | the query alone is scaled before the product
def scaled_scores(query, key):
    return attention_scores(query * query.size(-1) ** -0.5, key)
