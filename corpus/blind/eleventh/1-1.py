# %% [wrong] transpose_first_two_axes | Swaps axes 0 and 1 of the keys instead of the last two. Without a batch this is right; with a batch the batch and the keys change places, and the product is wrong or has shapes that do not fit.
def attention_scores(query, key):
    return torch.matmul(query, key.transpose(0, 1))


# %% [wrong] reshape_instead_of_transpose | Reshapes the keys to (d_k, K) instead of transposing them. The shape of the result is right, but the numbers of different keys are mixed, so the dot products are wrong.
def attention_scores(query, key):
    *batch, n_keys, d_k = key.shape
    flipped = key.reshape(*batch, d_k, n_keys)
    return query @ flipped


# %% [wrong] tensordot_over_the_batch | Uses tensordot (as np.inner would) over the last axis. Without a batch it is right; with a batch every query of every example meets every key of every example, and the result is (B, Q, B, K) instead of (B, Q, K).
def attention_scores(query, key):
    return torch.tensordot(query, key, dims=([-1], [-1]))


# %% [wrong] float32_buffer | Fills a result that was made with torch.zeros, and so is always float32. The numbers are right, but float64 inputs come back as float32, although the type has to stay.
def attention_scores(query, key):
    scores = torch.zeros(*query.shape[:-1], key.shape[-2])
    for i in range(query.shape[-2]):
        for j in range(key.shape[-2]):
            scores[..., i, j] = (query[..., i, :] * key[..., j, :]).sum(-1)
    return scores


# %% [wrong] cosine_similarity | Divides queries and keys by their lengths first, so it gives the cosine similarity and not the dot product. The example gives [[0.816, 0], [0.816, 0.707]] and not [[2, 0], [2, 1]].
def attention_scores(query, key):
    q = F.normalize(query, dim=-1)
    k = F.normalize(key, dim=-1)
    return q @ k.mT


# %% [right] broadcast_multiply_sum | No matrix product: broadcasts queries against keys on two new axes, multiplies and sums over the features.
def attention_scores(query, key):
    pairs = query[..., :, None, :] * key[..., None, :, :]
    return pairs.sum(dim=-1)
