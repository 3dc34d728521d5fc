# %% [wrong] keys_in_rows | The einsum ends in "kq" instead of "qk", so the map comes out transposed, (..., K, Q): row i belongs to key i.
def attention_scores(query, key):
    # sum over the feature index d
    return torch.einsum("...qd,...kd->...kq", query, key)

# %% [wrong] tensordot_batches | tensordot over the last axes keeps the batch axes of both sides, so (B, Q, d) and (B, K, d) give (B, Q, B, K), every batch against every other; only without a batch is it right.
def attention_scores(query, key):
    return torch.tensordot(query, key, dims=([-1], [-1]))

# %% [wrong] always_float32 | Both sides are cast with .float() before the product, so float64 goes in and float32 comes out; the task says that the type stays.
def attention_scores(query, key):
    q = query.float()
    k = key.float()
    return torch.matmul(q, k.transpose(-2, -1))

# %% [wrong] reshape_not_transpose | The keys are brought to (d_k, K) with reshape, which only reads the same numbers in another grouping; transpose(-2, -1) is needed, so the products mix features of different keys.
def attention_scores(query, key):
    *front, n_keys, d_k = key.shape
    flipped = key.reshape(*front, d_k, n_keys)
    return query @ flipped

# %% [wrong] sum_over_batch | In the loop .sum() has no dim, so it adds up the products of all batch elements and writes the same total into each; it should be .sum(-1).
def attention_scores(query, key):
    Q, K = query.shape[-2], key.shape[-2]
    scores = torch.zeros(*query.shape[:-1], K, dtype=query.dtype, device=query.device)
    for i in range(Q):
        for j in range(K):
            scores[..., i, j] = (query[..., i, :] * key[..., j, :]).sum()
    return scores

# %% [wrong] unit_keys | The keys are divided by their length before the product (F.normalize), as for a cosine; the task asks for the plain dot product, so all columns are scaled down by the length of their key.
def attention_scores(query, key):
    direction = F.normalize(key, dim=-1)  # only the direction should count
    return query @ direction.transpose(-2, -1)

# %% [right] einsum_ellipsis | one einsum with an ellipsis for the batch axes, no transpose
def attention_scores(query, key):
    return torch.einsum("...qd,...kd->...qk", query, key)
