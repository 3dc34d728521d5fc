# %% [wrong] einsum_without_ellipsis | The einsum pattern "qd,kd->qk" names two axes only; it should be "...qd,...kd->...qk". Right for a single pair of matrices, an error as soon as there is a batch axis.
def attention_scores(query, key):
    # one letter per axis, d is summed away
    return torch.einsum("qd,kd->qk", query, key)

# %% [wrong] keys_in_rows | The einsum's result is written "...kq", so row i belongs to key i; it should be "...qk". The map comes out transposed, (..., K, Q), which nobody sees in shapes where Q = K.
def attention_scores(query, key):
    scores = torch.einsum("...kd,...qd->...kq", key, query)
    return scores

# %% [wrong] bmm_needs_three_axes | torch.bmm takes exactly three axes; it should be a matmul (@). Two axes (no batch) and four axes (batch and heads) raise an error.
def attention_scores(query, key):
    key_t = key.transpose(-2, -1)
    return torch.bmm(query, key_t)

# %% [wrong] cast_to_float32 | Both inputs are cast with .float() before the product; the type should stay as it is. float64 comes back as float32.
def attention_scores(query, key):
    q, k = (side.float() for side in (query, key))  # matmul wants the same type on both sides
    return q @ k.transpose(-2, -1)

# %% [wrong] inner_is_not_batched | torch.inner pairs every batch entry of the query with every one of the key; a batched matmul is wanted. Without a batch it is right, with one the result is (B, Q, B, K) in place of (B, Q, K).
def attention_scores(query, key):
    # numpy's inner: sum over the last axis of both
    return torch.inner(query, key)

# %% [wrong] mean_of_products | The products are averaged over d_k with .mean(-1); a dot product adds them up, .sum(-1). All scores are d_k times too small.
def attention_scores(query, key):
    every_pair = query.unsqueeze(-2) * key.unsqueeze(-3)  # (..., Q, K, d_k)
    return every_pair.mean(dim=-1)

# %% [right] broadcast_and_sum | No matrix product at all: every query is multiplied with every key by broadcasting, and the last axis is summed.
def attention_scores(query, key):
    asked = query.unsqueeze(-2)  # (..., Q, 1, d_k)
    offered = key.unsqueeze(-3)  # (..., 1, K, d_k)
    return (asked * offered).sum(dim=-1)
