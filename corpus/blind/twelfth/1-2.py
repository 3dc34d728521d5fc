# %% [wrong] root_of_number_of_keys | divides by the root of the number of keys (axis −2 of key) instead of the root of the width d_k (axis −1)
def scaled_scores(query, key):
    scores = attention_scores(query, key)
    d_k = key.size(-2)
    return scores / math.sqrt(d_k)


# %% [wrong] both_divided | query and key are each divided by √d_k before the product, so the scores are divided by d_k and not by its root
def scaled_scores(query, key):
    def shrink(x):
        return x / x.shape[-1] ** 0.5

    return attention_scores(shrink(query), shrink(key))


# %% [wrong] power_precedence | `** 1 / 2` is read as `(d_k ** 1) / 2`, so the scores are divided by d_k / 2 and not by √d_k
def scaled_scores(query, key):
    root = query.shape[-1] ** 1 / 2
    return attention_scores(query, key) / root


# %% [wrong] integer_root | math.isqrt rounds the root down to a whole number: right only when d_k is a square, at d_k = 3 the scores are divided by 1
def scaled_scores(query, key):
    return attention_scores(query, key).div(math.isqrt(key.shape[-1]))


# %% [wrong] axis_one | d_k is read from axis 1: right for two-dimensional inputs, with a batch in front axis 1 is the number of queries
def scaled_scores(query, key):
    d_k = query.shape[1]
    scale = torch.full((), d_k, dtype=query.dtype, device=query.device).rsqrt()
    return scale * attention_scores(query, key)


# %% [right] fourth_roots | the root is split between the two sides: query and key are each multiplied by d_k^(−1/4) before the product
def scaled_scores(query, key):
    quarter = query.size(-1) ** -0.25
    return attention_scores(query * quarter, key * quarter)
