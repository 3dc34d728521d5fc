# %% [wrong] key_dot_t | `.T` turns round all axes, not the last two: it works for matrices alone and breaks as soon as a batch stands in front.
def attention_scores(query, key):
    return torch.matmul(query, key.T)


# %% [wrong] reshaped_keys | The keys are reshaped to (d_k, K) where they should be transposed: the shape is right, the numbers stand in the wrong places.
def attention_scores(query, key):
    K, d_k = key.shape[-2:]
    key_t = key.reshape(*key.shape[:-2], d_k, K)   # now (…, d_k, K), so the product fits
    scores = query @ key_t
    return scores


# %% [wrong] keys_ask | The product is the wrong way round: a row for each key and a column for each query.
def attention_scores(query, key):
    # every key with every query
    return key @ query.transpose(-1, -2)


# %% [wrong] einsum_one_batch | The einsum is written for exactly one batch dimension; without one, or with two, it raises an error.
def attention_scores(query, key):
    return torch.einsum('bqd,bkd->bqk', query, key)


# %% [wrong] loops_into_float32 | The scores are written into a fresh `torch.zeros`, which is float32: float64 input comes back as float32.
def attention_scores(query, key):
    Q, K = query.shape[-2], key.shape[-2]
    out = torch.zeros(*query.shape[:-2], Q, K)
    for i in range(Q):
        for j in range(K):
            out[..., i, j] = (query[..., i, :] * key[..., j, :]).sum(-1)
    return out


# %% [wrong] paired_products | Query i is multiplied with key i alone, so there is one number for each query in place of one for each pair.
def attention_scores(query, key):
    """dot product = multiply and add up"""
    products = query * key
    return products.sum(dim=-1)


# %% [right] broadcast_sum | Multiplies by broadcasting, a new axis for each side, and adds up the last axis: no matrix product.
def attention_scores(query, key):
    q = query[..., :, None, :]
    k = key[..., None, :, :]
    return q.mul(k).sum(-1)
