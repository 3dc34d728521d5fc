# %% [wrong] key_dot_t | Uses .T, which reverses all axes: right for two axes, wrong or an error as soon as a batch stands in front.
def attention_scores(query, key):
    return query @ key.T

# %% [wrong] rows_are_keys | The einsum puts the keys before the queries in its result, so the map is transposed: (..., K, Q) in place of (..., Q, K).
def attention_scores(query, key):
    return torch.einsum("...id,...jd->...ji", query, key)

# %% [wrong] float32_table | Fills a table that torch.zeros makes in float32 (and knows no batch): float64 queries come back as float32.
def attention_scores(query, key):
    table = torch.zeros(*query.shape[:-1], key.shape[-2])
    for i in range(query.shape[-2]):
        for j in range(key.shape[-2]):
            table[..., i, j] = (query[..., i, :] * key[..., j, :]).sum(-1)
    return table

# %% [wrong] one_batch_axis_only | The einsum names exactly one batch axis: two plain matrices, or two batch axes, raise an error.
def attention_scores(query, key):
    return torch.einsum("bqd,bkd->bqk", query, key)

# %% [wrong] reshape_for_transpose | Reshapes the keys to (d_k, K) in place of transposing them; the shape fits, but the numbers stand in the wrong places.
def attention_scores(query, key):
    *lead, n_keys, width = key.shape
    flipped = key.reshape(*lead, width, n_keys)
    return torch.matmul(query, flipped)

# %% [wrong] cosine_not_dot | Divides both sides by their lengths first, which gives cosine similarities, not dot products.
def attention_scores(query, key):
    q = F.normalize(query, dim=-1)
    k = F.normalize(key, dim=-1)
    return q @ k.transpose(-1, -2)

# %% [right] broadcast_and_sum | Multiplies every pair by broadcasting and sums the last axis, in place of a matrix product.
def attention_scores(query, key):
    pairs = query.unsqueeze(-2) * key.unsqueeze(-3)  # (..., Q, K, d_k)
    return pairs.sum(dim=-1)
