# %% [wrong] whole_number_root | Takes math.isqrt, the root rounded down to a whole number. It should be the real root: for d_k = 3 it divides by 1 in place of 1.732; for d_k = 4, 16, 64 nothing shows.
def scaled_scores(query, key):
    root = math.isqrt(query.shape[-1])
    return attention_scores(query, key) / root

# %% [wrong] width_of_first_row_by_len | Measures d_k as len(query[0]). That is the width only for a plain matrix; with a batch in front it is the number of queries (or another batch axis), so batched scores are scaled by the wrong number.
def scaled_scores(query, key):
    d_k = len(query[0])
    factor = 1 / d_k**0.5
    return attention_scores(query, key) * factor

# %% [wrong] power_before_division | Writes d_k ** 1 / 2 without brackets. Python reads (d_k ** 1) / 2, and so the scores are divided by d_k / 2 in place of the root of d_k.
def scaled_scores(query, key):
    d_k = key.shape[-1]
    scale = d_k ** 1 / 2
    return torch.div(attention_scores(query, key), scale)

# %% [wrong] shrinks_the_query_in_place | Divides the caller's query in place. If query and key are the same tensor both sides are shrunk and the scores are divided by d_k; and each further call with the same query gives smaller scores.
def scaled_scores(query, key):
    query /= math.sqrt(query.shape[-1])
    return attention_scores(query, key)

# %% [wrong] torch_sqrt_of_a_number | Hands a Python int to torch.sqrt, which takes tensors only. It should be math.sqrt (or ** 0.5): a TypeError.
def scaled_scores(query, key):
    width = query.size(dim=-1)
    return attention_scores(query, key) / torch.sqrt(width)

# %% [wrong] divides_by_measured_spread | Divides by the standard deviation that the scores happen to have, because the text says that the variance should come back to 1. The root of d_k is a fixed number; here each score depends on all others of the batch.
def scaled_scores(query, key):
    scores = attention_scores(query, key)
    spread = scores.std()
    return scores / spread

# %% [right] fourth_root_on_both_sides | Scales query and key by the fourth root of d_k each before the product, in place of dividing the scores.
def scaled_scores(query, key):
    fourth_root = query.shape[-1] ** 0.25
    return attention_scores(query / fourth_root, key / fourth_root)
