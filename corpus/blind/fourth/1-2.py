# %% [wrong] root_of_key_count | Divides by the root of the number of keys; d_k is the width of a key.
def scaled_scores(query, key):
    n_keys = key.shape[-2]
    return attention_scores(query, key) / math.sqrt(n_keys)


# %% [wrong] precedence | `d ** 1 / 2` is (d ** 1) / 2: the scores are divided by d_k / 2, not by the root.
def scaled_scores(query, key):
    d = query.size(-1)
    return attention_scores(query, key) / (d ** 1 / 2)


# %% [wrong] scaled_twice | Queries and keys are each divided by √d_k, so that the scores are divided by d_k altogether.
def scaled_scores(query, key):
    root = math.sqrt(query.shape[-1])
    return attention_scores(query / root, key / root)


# %% [wrong] axis_one | `shape[1]` is the width only for a matrix; with a batch in front it is the number of queries.
def scaled_scores(query, key):
    d_k = query.shape[1]
    scores = attention_scores(query, key)
    scores = scores / d_k ** 0.5
    return scores


# %% [wrong] whole_root | `math.isqrt` rounds the root down to a whole number, so it is right for 4, 16 and 64 only.
def scaled_scores(query, key):
    return attention_scores(query, key) / math.isqrt(key.shape[-1])


# %% [wrong] measured_spread | Divides by the measured standard deviation of the scores: that is another number for each input, and not √d_k.
def scaled_scores(query, key):
    s = attention_scores(query, key)
    # bring the variance back to 1, as the text says
    return s / s.std()


# %% [right] scaled_query_einsum | Scales the queries before the product, by a power, and multiplies with einsum and an ellipsis.
def scaled_scores(query, key):
    shrunk = query * query.shape[-1] ** -0.5
    return torch.einsum("...qd,...kd->...qk", shrunk, key)
