# %% [wrong] capital_t | key.T turns round ALL axes, not the last two: right for plain matrices, but with a batch (..., K, d_k) becomes (d_k, K, ...), and the product fails or multiplies the wrong things
def attention_scores(query, key):
    return torch.matmul(query, key.T)


# %% [wrong] einsum_one_batch | the einsum names exactly one batch axis, so it raises for inputs without a batch and for two or more batch axes
def attention_scores(query, key):
    # b = batch, q = queries, k = keys, d = features
    return torch.einsum("bqd,bkd->bqk", query, key)


# %% [wrong] summed_over_keys | the products stand as (..., Q, K, d_k) and are summed over axis -2, the keys, instead of the features; the result is (..., Q, d_k): no scores at all
def attention_scores(query, key):
    q = query.unsqueeze(-2)  # (..., Q, 1, d_k)
    k = key.unsqueeze(-3)  # (..., 1, K, d_k)
    products = q * k
    return products.sum(dim=-2)


# %% [wrong] float32_table | the scores are written into a torch.zeros of the default type, so float64 input comes back as float32 (and rounded)
def attention_scores(query, key):
    *lead, Q, d_k = query.shape
    K = key.shape[-2]
    flat_q = query.reshape(-1, Q, d_k)
    flat_k = key.reshape(-1, K, d_k)
    table = torch.zeros(flat_q.shape[0], Q, K, device=query.device)
    for b in range(flat_q.shape[0]):
        for i in range(Q):
            table[b, i] = (flat_k[b] * flat_q[b, i]).sum(-1)
    return table.reshape(*lead, Q, K)


# %% [wrong] keys_in_rows | multiplies keys by queries instead of queries by keys: the map comes out transposed, (..., K, Q)
def attention_scores(query, key):
    flipped = query.transpose(-1, -2)
    scores = key @ flipped
    return scores


# %% [right] pairwise_sum | no matrix product: all pairs by broadcasting, then a sum over the features in the given type
def attention_scores(query, key):
    pairs = query[..., :, None, :] * key[..., None, :, :]
    return torch.sum(pairs, -1, dtype=pairs.dtype)
