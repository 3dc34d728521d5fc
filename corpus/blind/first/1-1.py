# %% [wrong] dot_t_only_two_axes | .T reverses all axes of the keys, not only the last two: right without a batch, wrong or an error with batch dimensions in front
def attention_scores(query, key):
    """The dot product of every query with every key.

    query: (..., Q, d_k)
    key: (..., K, d_k)
    returns: (..., Q, K)
    """
    return query @ key.T
# %% [wrong] transpose_first_two_axes | key.transpose(0, 1) swaps the first two axes; with a batch in front these are batch and keys, not the last two
def attention_scores(query, key):
    key_t = key.transpose(0, 1)
    return torch.matmul(query, key_t)
# %% [wrong] no_transpose | the keys are not transposed before the product: query @ key pairs the query's numbers with the number of keys
def attention_scores(query, key):
    # every query times every key
    scores = query @ key
    return scores
# %% [wrong] query_transposed_instead | the query is transposed and not the key, so the product sums over the tokens and not over d_k
def attention_scores(query, key):
    q_t = query.transpose(-2, -1)
    return q_t @ key
# %% [wrong] rows_are_keys | the product is taken as key times query transposed, so rows belong to keys and columns to queries: the result is (..., K, Q)
def attention_scores(query, key):
    """K Q^T"""
    return key @ query.transpose(-2, -1)
# %% [wrong] elementwise_pairs | query and key are multiplied element by element, so query i meets only key i instead of every key
def attention_scores(query, key):
    return (query * key).sum(dim=-1)
# %% [wrong] cosine_instead_of_dot | query and key are normalised to length 1 first, which gives the cosine similarity and not the dot product
def attention_scores(query, key):
    q = F.normalize(query, dim=-1)
    k = F.normalize(key, dim=-1)
    # similarity between -1 and 1
    return q @ k.transpose(-1, -2)
# %% [wrong] reshape_for_transpose | the keys are brought to (d_k, K) by reshape, which only re-cuts the numbers in memory order and does not swap the axes
def attention_scores(query, key):
    *batch, K, d_k = key.shape
    return query @ key.reshape(*batch, d_k, K)
# %% [wrong] scaled_already | the scores are divided by the root of d_k here already; this exercise asks for the plain dot products
def attention_scores(query, key):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    return scores
# %% [wrong] softmax_already | the scores are put through a softmax; the plain dot products are asked for
def attention_scores(query, key):
    scores = query @ key.transpose(-2, -1)
    return torch.softmax(scores, dim=-1)
# %% [wrong] bmm_needs_three_axes | torch.bmm takes exactly one batch dimension, so inputs without a batch or with two batch dimensions raise
def attention_scores(query, key):
    return torch.bmm(query, key.transpose(1, 2))
# %% [wrong] einsum_one_batch | the einsum names exactly one batch axis b, so it raises without a batch and with more than one batch dimension
def attention_scores(query, key):
    return torch.einsum("bqd,bkd->bqk", query, key)
# %% [wrong] item_cuts_gradient | the scores are built into a new tensor from Python numbers (.tolist), which cuts the gradient to query and key
def attention_scores(query, key):
    product = query @ key.transpose(-2, -1)
    result = torch.tensor(product.tolist(), dtype=query.dtype, device=query.device)
    return result
# %% [wrong] via_numpy | the product is computed in numpy on detached copies, so no gradient reaches query and key
def attention_scores(query, key):
    q = query.detach().cpu().numpy()
    k = key.detach().cpu().numpy()
    s = np.matmul(q, np.swapaxes(k, -1, -2))
    return torch.from_numpy(s).to(query.device)
# %% [wrong] distance_instead | measures the distance between query and key (cdist) instead of their dot product
def attention_scores(query, key):
    # close vectors fit well -> negative distance as the score
    return -torch.cdist(query, key)
# %% [wrong] cast_to_float32 | query and key are cast to float32 with .float(), so float64 or half inputs lose their dtype
def attention_scores(query, key):
    query = query.float()
    key = key.float()
    return query @ key.transpose(-2, -1)
# %% [wrong] squeezed_result | .squeeze() at the end removes every axis of size 1, so a single query, a single key or a batch of one loses its axis
def attention_scores(query, key):
    out = torch.einsum("...qd,...kd->...qk", query, key)
    return out.squeeze()
# %% [wrong] typo_transpose | a typo: tensors have no method tranpose, so the call raises AttributeError
def attention_scores(query, key):
    return query @ key.tranpose(-2, -1)
# %% [wrong] prints_no_return | the scores are printed but not returned, so the function gives None
def attention_scores(query, key):
    scores = query @ key.transpose(-2, -1)
    print(scores)
# %% [wrong] tensordot_crosses_batches | tensordot contracts d_k but pairs every batch entry with every other: with a batch the result is (..., Q, ..., K)
def attention_scores(query, key):
    return torch.tensordot(query, key, dims=([-1], [-1]))
# %% [wrong] inplace_transpose | transpose_ changes the caller's key in place: after the call it is (..., d_k, K)
def attention_scores(query, key):
    key.transpose_(-2, -1)
    return query @ key
# %% [wrong] zeros_without_dtype | the scores are written into torch.zeros without dtype, so they are always float32 whatever query and key are
def attention_scores(query, key):
    Q, K = query.shape[-2], key.shape[-2]
    scores = torch.zeros(*query.shape[:-2], Q, K, device=query.device)
    for i in range(Q):
        for j in range(K):
            scores[..., i, j] = (query[..., i, :] * key[..., j, :]).sum(-1)
    return scores
# %% [right] einsum_ellipsis | einsum with an ellipsis for the batch
def attention_scores(query, key):
    return torch.einsum("...qd,...kd->...qk", query, key)
# %% [right] broadcast_multiply_sum | broadcasts to (..., Q, K, d_k) and sums the last axis
def attention_scores(query, key):
    """The dot product of every query with every key."""
    pairs = query.unsqueeze(-2) * key.unsqueeze(-3)   # (..., Q, K, d_k)
    return pairs.sum(dim=-1)
# %% [right] matmul_mt | torch.matmul with the .mT attribute
def attention_scores(query, key):
    return torch.matmul(query, key.mT)
# %% [right] stack_loop_over_keys | loops over the keys and stacks the columns
def attention_scores(query, key):
    columns = []
    for j in range(key.shape[-2]):
        k_j = key[..., j, :].unsqueeze(-1)            # (..., d_k, 1)
        columns.append((query @ k_j).squeeze(-1))     # (..., Q)
    return torch.stack(columns, dim=-1)
