# %% [wrong] root_of_key_count | Takes the root of the number of keys in place of the width of one key.
def scaled_scores(query, key):
    n = key.size(-2)
    return attention_scores(query, key) * n ** -0.5

# %% [wrong] no_root | Divides by d_k itself; the square root is missing.
def scaled_scores(query, key):
    d_k = query.shape[-1]
    return attention_scores(query, key) / d_k

# %% [wrong] divides_by_inverse_root | Divides by d_k to the power −½, which multiplies the scores by the root.
def scaled_scores(query, key):
    scale = query.shape[-1] ** -0.5
    return attention_scores(query, key) / scale

# %% [wrong] both_sides_scaled | Divides query and key by √d_k each, so the scores are divided by d_k in all.
def scaled_scores(query, key):
    root = math.sqrt(key.shape[-1])
    return attention_scores(query / root, key / root)

# %% [wrong] integer_root | math.isqrt rounds the root down to a whole number: √3 becomes 1.
def scaled_scores(query, key):
    return torch.einsum("...qd,...kd->...qk", query, key) / math.isqrt(query.shape[-1])

# %% [wrong] width_from_axis_one | Reads the width from axis 1, which is the width only when there is no batch in front.
def scaled_scores(query, key):
    d_k = query.shape[1]
    return attention_scores(query, key) / math.sqrt(d_k)

# %% [right] fourth_root_each | Divides query and key by the fourth root of d_k each before the product.
def scaled_scores(query, key):
    quarter = key.shape[-1] ** 0.25
    return attention_scores(query / quarter, key / quarter)
