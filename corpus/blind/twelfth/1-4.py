# %% [wrong] softmax_over_queries | the softmax runs along axis −2, the queries: each key shares itself among the queries, and the rows of the weights do not add up to 1
def attention(query, key, value):
    scores = scaled_scores(query, key)
    weights = stable_softmax(scores, dim=-2)
    output = torch.einsum("...qk,...kv->...qv", weights, value)
    return output, weights


# %% [wrong] weights_first | both results are right, but they are returned in the wrong order: weights, output
def attention(query, key, value):
    p = stable_softmax(scaled_scores(query, key))
    return p, p @ value


# %% [wrong] output_like_query | the output is allocated in the shape of the query, so its last axis is d_k and not d_v: an error whenever the values have another width than the keys
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key), dim=-1)
    output = torch.zeros_like(query)
    for i in range(query.shape[-2]):
        share = weights[..., i, :].unsqueeze(-1)
        output[..., i, :] = (share * value).sum(dim=-2)
    return output, weights


# %% [wrong] implicit_softmax_axis | F.softmax is called without dim; PyTorch then guesses axis 1 for two-dimensional scores (right) but axis 0 for three and axis 1 for four dimensions, so with a batch in front the sum runs over the batch or the heads
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = F.softmax(scores)
    return weights @ value, weights


# %% [wrong] scaled_twice | the query is divided by √d_k although scaled_scores divides once more, so the scores are divided by d_k and the weights are too even
def attention(query, key, value):
    d_k = query.shape[-1]
    query = query / d_k**0.5
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    output = torch.matmul(weights, value)
    return output, weights


# %% [right] weighted_sum_by_broadcast | no matrix product for the mixing: every value is multiplied by its weight on a new axis and the products are summed over the keys
def attention(query, key, value):
    weights = scaled_scores(query, key).softmax(dim=-1)
    shares = weights[..., :, :, None] * value[..., None, :, :]
    return shares.sum(dim=-2), weights
