# %% [wrong] transpose_axes_one_and_two | The keys are turned with transpose(1, 2), counted from the front: with exactly one batch dimension it is right, but two plain matrices (no batch) end in an IndexError, and with two batch dimensions the wrong axes are swapped. It should be the last two axes, transpose(-2, -1).
def attention_scores(query, key):
    key_t = key.transpose(1, 2)
    return torch.matmul(query, key_t)

# %% [wrong] tensordot_over_batches | tensordot contracts the last axes but treats the batch axes as free ones: for (B, Q, d) and (B, K, d) it gives (B, Q, B, K), every batch element against every other, in place of (B, Q, K). Without a batch it is right.
def attention_scores(query, key):
    # like np.tensordot: sum over the feature axis of both
    return torch.tensordot(query, key, dims=([-1], [-1]))

# %% [wrong] rows_are_keys | The product is the wrong way round: a row belongs to a key and a column to a query, (..., K, Q). It should be (..., Q, K), row i for query i.
def attention_scores(query, key):
    return torch.einsum("...kd,...qd->...kq", key, query)

# %% [wrong] loop_into_float32_zeros | The loops fill a torch.zeros of the default type, so float64 queries and keys give float32 scores. The type of the numbers should stay.
def attention_scores(query, key):
    n_q = query.shape[-2]
    n_k = key.shape[-2]
    scores = torch.zeros(*query.shape[:-2], n_q, n_k)
    for i in range(n_q):
        for j in range(n_k):
            scores[..., i, j] = (query[..., i, :] * key[..., j, :]).sum(dim=-1)
    return scores

# %% [wrong] already_divided_by_root | The formula of the paper was copied with its root: the scores are divided by √d_k here already. The task wants the plain dot products, 2 and not 1.155.
def attention_scores(query, key):
    d_k = query.size(-1)
    return query @ key.transpose(-2, -1) / math.sqrt(d_k)

# %% [right] broadcast_multiply_sum | No matrix product: both sides get an axis, are multiplied number by number and summed over the width.
def attention_scores(query, key):
    q = query.unsqueeze(-2)  # (..., Q, 1, d_k)
    k = key.unsqueeze(-3)  # (..., 1, K, d_k)
    return (q * k).sum(dim=-1)
