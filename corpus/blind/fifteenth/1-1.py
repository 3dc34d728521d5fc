# %% [wrong] loops_over_queries_twice | Both loops run over the number of queries, so with more keys than queries the last columns stay 0. The inner loop must run over the keys.
def attention_scores(query, key):
    """The dot product of every query with every key."""
    n = query.shape[-2]
    rows = []
    for i in range(n):
        row = query.new_zeros(*query.shape[:-2], key.shape[-2])
        for j in range(n):
            row[..., j] = (query[..., i, :] * key[..., j, :]).sum(-1)
        rows.append(row)
    return torch.stack(rows, dim=-2)
# %% [wrong] result_in_float32 | The table of scores is made with torch.zeros and no dtype, so it is float32 and float64 inputs lose their precision. The type of the numbers should stay: take the dtype from the query.
def attention_scores(query, key):
    scores = torch.zeros(query.shape[:-1] + (key.shape[-2],), device=query.device)
    for j in range(key.shape[-2]):
        k = key[..., j, :].unsqueeze(-2)          # (..., 1, d_k)
        scores[..., j] = (query * k).sum(dim=-1)  # (..., Q)
    return scores
# %% [wrong] tensordot_crosses_batches | tensordot multiplies every query of every batch with every key of every batch, so with a batch the shape is (B, Q, B, K). Each batch should meet its own keys only: query @ key.transpose(-2, -1).
def attention_scores(query, key):
    """query (..., Q, d_k), key (..., K, d_k) -> (..., Q, K)"""
    # multiply and add over the last axis of both
    return torch.tensordot(query, key, dims=([-1], [-1]))
