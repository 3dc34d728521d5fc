# %% [wrong] buffer_is_float32 | Fills a buffer made by torch.zeros, which is float32 whatever comes in. The type of the numbers should stay: float64 queries come back as rounded float32 scores.
def attention_scores(query, key):
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    scores = torch.zeros(*query.shape[:-2], n_queries, n_keys)
    for i in range(n_queries):
        for j in range(n_keys):
            scores[..., i, j] = (query[..., i, :] * key[..., j, :]).sum(-1)
    return scores

# %% [wrong] tensordot_crosses_batches | torch.tensordot contracts d_k but keeps all other axes of both sides, so every query meets the keys of every batch element. With a batch in front the result is (B, Q, B, K) in place of (B, Q, K); without one it is right.
def attention_scores(query, key):
    return torch.tensordot(query, key, dims=([-1], [-1]))

# %% [wrong] transposes_key_in_place | transpose_ with the underscore turns the caller's key around for good. It should work on a view: if the same tensor is query and key (self-attention) the result is wrong or an error, and a second call with the same key fails.
def attention_scores(query, key):
    key_t = key.transpose_(-2, -1)
    return torch.matmul(query, key_t)

# %% [wrong] reshape_not_transpose | Brings the keys to (d_k, K) by a reshape, which refills the shape in memory order and mixes the numbers of different keys. It should swap the two axes: right shape, wrong scores.
def attention_scores(query, key):
    *batch, n_keys, d_k = key.shape
    turned = key.reshape(*batch, d_k, n_keys)
    return query @ turned

# %% [wrong] root_already_here | Divides by the root of d_k already in 1.1. Here the plain dot products are asked for; the example gives 1.155 in place of 2.
def attention_scores(query, key):
    d_k = query.size(-1)
    dots = torch.einsum("...qd,...kd->...qk", query, key)
    return dots / math.sqrt(d_k)

# %% [wrong] negative_scores_cut_off | Cuts negative scores off at 0, thinking that a fit cannot be below nothing. A dot product is negative where two vectors point apart, and must stay so.
def attention_scores(query, key):
    def fit(q, k):
        return torch.matmul(q, k.transpose(-2, -1))

    return F.relu(fit(query, key))

# %% [right] broadcast_and_sum | No matrix product at all: gives both sides an extra axis, multiplies by broadcasting and sums over d_k.
def attention_scores(query, key):
    every_pair = query[..., :, None, :] * key[..., None, :, :]
    return every_pair.sum(dim=-1)
