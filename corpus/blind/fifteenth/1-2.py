# %% [wrong] width_from_axis_one | d_k is read from shape[1]. That is the width only without a batch; with a batch in front it is the number of queries. It should be shape[-1].
def scaled_scores(query, key):
    d_k = query.shape[1]
    return attention_scores(query, key) / math.sqrt(d_k)
# %% [wrong] root_applied_to_both_sides | Query and key are each divided by the root of d_k, so the scores are divided by d_k itself. The root must divide the scores once.
def scaled_scores(query, key):
    def shrink(x):
        return x * x.shape[-1] ** -0.5

    return attention_scores(shrink(query), shrink(key))
# %% [wrong] whole_number_root | math.isqrt rounds the root down to a whole number, which is right only where d_k is a square such as 16 or 64. Use math.sqrt.
def scaled_scores(query, key):
    """The scores, divided by the root of the width of one key."""
    width = key.size(-1)
    root = math.isqrt(width)
    scores = attention_scores(query, key)
    return scores / root
