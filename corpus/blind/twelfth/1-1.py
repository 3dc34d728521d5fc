# %% [wrong] dot_T | `key.T` reverses all axes instead of swapping the last two: right for two-dimensional inputs, but with batch dimensions in front the shapes no longer fit (or, for equal sizes, batches are mixed)
def attention_scores(query, key):
    """The dot product of every query with every key."""
    scores = query @ key.T
    return scores


# %% [wrong] einsum_needs_batch | the einsum is written for exactly one batch dimension; with none (the example of the text) or with two it raises an error, because there is no ellipsis
def attention_scores(query, key):
    # b = batch, q = queries, k = keys, d = width
    return torch.einsum("bqd,bkd->bqk", query, key)


# %% [wrong] float32_table | the result is collected in torch.zeros of the default type, so float64 inputs come back as float32 (and the precision is lost)
def attention_scores(query, key):
    Q, K = query.shape[-2], key.shape[-2]
    scores = torch.zeros(*query.shape[:-1], K)
    for i in range(Q):
        for j in range(K):
            scores[..., i, j] = (query[..., i, :] * key[..., j, :]).sum(dim=-1)
    return scores


# %% [wrong] keys_as_rows | the new axes are put in the wrong places: queries vary along the columns and keys along the rows, so the result is (..., K, Q), the transpose of what is asked
def attention_scores(query, key):
    q = query.unsqueeze(-3)
    k = key.unsqueeze(-2)
    products = q * k
    return products.sum(-1)


# %% [wrong] reshape_not_transpose | the keys are brought to (d_k, K) with reshape, which only re-cuts the numbers in memory order and does not swap the axes: the shape is right, the columns are mixtures of different keys
def attention_scores(query, key):
    *batch, K, d_k = key.shape
    key_t = key.reshape(*batch, d_k, K)
    return torch.matmul(query, key_t)


# %% [right] column_by_column | one column for each key, made by multiplication and sum, then stacked along a new last axis; no matrix product
def attention_scores(query, key):
    columns = [(query * one.unsqueeze(-2)).sum(dim=-1) for one in key.unbind(dim=-2)]
    return torch.stack(columns, dim=-1)
