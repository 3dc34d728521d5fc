# %% [wrong] divide_by_dk | divides by d_k itself, the root is missing
def scaled_scores(query, key):
    """The scores, divided by the root of the width of one key."""
    d_k = key.shape[-1]
    return attention_scores(query, key) / d_k
# %% [wrong] root_of_key_count | takes the root of the number of keys (axis -2), not of the width d_k
def scaled_scores(query, key):
    return attention_scores(query, key) / math.sqrt(key.shape[-2])
# %% [wrong] root_of_query_count | takes d_k from the query's axis -2, which is the number of queries and not the width
def scaled_scores(query, key):
    n = query.size(-2)
    return attention_scores(query, key) * n ** -0.5
# %% [wrong] multiplies_by_root | multiplies by the root of d_k instead of dividing by it
def scaled_scores(query, key):
    d_k = query.shape[-1]
    scale = d_k ** 0.5
    return attention_scores(query, key) * scale
# %% [wrong] hard_coded_three | the width 3 of the example is hard-coded, so any other d_k is scaled wrongly
def scaled_scores(query, key):
    d_k = 3
    return attention_scores(query, key) / math.sqrt(d_k)
# %% [wrong] not_scaled | computes d_k but returns the scores without dividing by its root
def scaled_scores(query, key):
    d_k = query.shape[-1]
    scores = attention_scores(query, key)
    scores / math.sqrt(d_k)
    return scores
# %% [wrong] scaled_twice | the queries are divided by the root of d_k and the scores once more, so altogether by d_k
def scaled_scores(query, key):
    root = math.sqrt(query.shape[-1])
    q = query / root
    scores = attention_scores(q, key)
    return scores / root
# %% [wrong] len_of_key | len(key) is the size of the first axis (number of keys, or the batch), not the width d_k
def scaled_scores(query, key):
    return attention_scores(query, key) / len(key) ** 0.5
# %% [wrong] power_precedence | d_k ** 1/2 means (d_k ** 1) / 2 in Python: brackets around 1/2 are missing, so the root is not taken
def scaled_scores(query, key):
    d_k = key.shape[-1]
    root = d_k ** 1/2
    return attention_scores(query, key) / root
# %% [wrong] torch_sqrt_of_int | torch.sqrt is given a Python int and raises TypeError; it only takes tensors
def scaled_scores(query, key):
    d_k = query.shape[-1]
    return attention_scores(query, key) / torch.sqrt(d_k)
# %% [wrong] floor_division | // rounds the quotient down to whole numbers; true division / is needed
def scaled_scores(query, key):
    return attention_scores(query, key) // math.sqrt(query.shape[-1])
# %% [wrong] width_from_axis_one | shape[1] is the width only without a batch; with a batch in front it is the number of queries
def scaled_scores(query, key):
    d_k = query.shape[1]
    return attention_scores(query, key) / math.sqrt(d_k)
# %% [wrong] inplace_query | query /= changes the caller's query in place
def scaled_scores(query, key):
    query /= math.sqrt(query.shape[-1])
    return attention_scores(query, key)
# %% [wrong] integer_root | the root is rounded down to an integer (math.isqrt), so it is right for square numbers d_k only
def scaled_scores(query, key):
    d_k = query.shape[-1]
    return attention_scores(query, key) / math.isqrt(d_k)
# %% [wrong] rounded_to_three | the result is rounded to three decimals to look like the expected output
def scaled_scores(query, key):
    s = attention_scores(query, key) / math.sqrt(query.shape[-1])
    return torch.round(s, decimals=3)
# %% [wrong] softmax_added | a softmax is applied to the scaled scores; the scores themselves are asked for
def scaled_scores(query, key):
    scores = attention_scores(query, key) / math.sqrt(key.size(-1))
    return scores.softmax(dim=-1)
# %% [wrong] divides_by_measured_std | divides by the measured standard deviation of the scores to get variance 1, instead of by the root of d_k
def scaled_scores(query, key):
    scores = attention_scores(query, key)
    # bring the variance back to 1
    return scores / scores.std()
# %% [wrong] divides_by_key_norm | divides by the length (norm) of each key vector; "width" means the number of entries d_k
def scaled_scores(query, key):
    norm = key.norm(dim=-1)                 # (..., K)
    return attention_scores(query, key) / norm.unsqueeze(-2)
# %% [wrong] fourth_root | only the query is divided, and by the fourth root of d_k; the scores are then off by a factor of the fourth root
def scaled_scores(query, key):
    q = query / query.shape[-1] ** 0.25
    return attention_scores(q, key)
# %% [wrong] exponent_minus_five | a typo in the exponent: d_k ** -5 instead of d_k ** -0.5
def scaled_scores(query, key):
    return attention_scores(query, key) * query.shape[-1] ** -5
# %% [wrong] root_of_quotient | takes the root of the whole quotient scores / d_k, so negative scores become NaN and others are wrong
def scaled_scores(query, key):
    d_k = query.shape[-1]
    return torch.sqrt(attention_scores(query, key) / d_k)
# %% [wrong] arguments_swapped | calls attention_scores with key and query swapped, so the result is (..., K, Q)
def scaled_scores(query, key):
    return attention_scores(key, query) / math.sqrt(key.shape[-1])
# %% [wrong] sqrt_not_imported | the name sqrt is not defined (math.sqrt is meant), so it raises NameError
def scaled_scores(query, key):
    d_k = query.shape[-1]
    return attention_scores(query, key) / sqrt(d_k)
# %% [right] scale_query_first | divides the query before the product, written out without attention_scores
def scaled_scores(query, key):
    q = query * query.shape[-1] ** -0.5
    return q @ key.transpose(-2, -1)
# %% [right] numpy_root | takes the root with numpy, and d_k from the key
def scaled_scores(query, key):
    d_k = key.size(-1)
    scores = attention_scores(query, key)
    return scores / np.sqrt(d_k)
# %% [right] einsum_div_out_of_place | einsum, then torch.div by a Python float
def scaled_scores(query, key):
    raw = torch.einsum("...id,...jd->...ij", query, key)
    return torch.div(raw, float(query.shape[-1]) ** 0.5)
