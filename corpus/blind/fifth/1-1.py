# %% [wrong] keys_ask | the product is key @ queryᵀ, so rows belong to keys: (..., K, Q) comes back instead of (..., Q, K), the transposed scores
def attention_scores(query, key):
    flipped = query.transpose(-2, -1)
    return key @ flipped

# %% [wrong] cosine | F.cosine_similarity divides by both lengths; it should be the plain dot product, so the example gives 0.816 in place of 2
def attention_scores(query, key):
    # compare every query with every key
    return F.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)

# %% [wrong] reshape_not_transpose | key.reshape(..., d_k, K) only re-cuts the numbers and does not swap the two axes; the columns are mixtures of several keys
def attention_scores(query, key):
    k_t = key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])
    return torch.matmul(query, k_t)

# %% [wrong] tensordot_batches | tensordot over the last axes pairs every batch with every other batch: with one batch axis the result is (B, Q, B, K), where (B, Q, K) is asked
def attention_scores(query, key):
    return torch.tensordot(query, key, dims=([-1], [-1]))

# %% [wrong] single_precision | both sides are cast to float32, so float64 queries give float32 scores; the type should stay
def attention_scores(query, key):
    q, k = query.float(), key.float()
    return torch.einsum("...qd,...kd->...qk", q, k)

# %% [wrong] one_batch_only | the einsum names exactly one batch axis; without a batch, or with two batch axes, it raises an error where any number of leading axes should do
def attention_scores(query, key):
    return torch.einsum("bqd,bkd->bqk", query, key)

# %% [right] broadcast_and_sum | no matrix product: an axis for the keys and one for the queries, multiplied elementwise and summed over d_k
def attention_scores(query, key):
    pairs = query[..., :, None, :] * key[..., None, :, :]
    return pairs.sum(dim=-1)
