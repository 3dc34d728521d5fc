# %% [wrong] softmax_over_queries | The softmax runs over the queries (axis −2), so columns sum to 1 and not rows.
def attention(query, key, value):
    w = torch.softmax(scaled_scores(query, key), dim=-2)
    return w @ value, w

# %% [wrong] softmax_axis_one | The softmax runs along axis 1: right without a batch, but with a batch axis 1 holds the queries.
def attention(query, key, value):
    scores = scaled_scores(query, key)
    weights = F.softmax(scores, dim=1)
    output = torch.matmul(weights, value)
    return output, weights

# %% [wrong] unscaled | Uses the plain dot products; the division by √d_k is missing.
def attention(query, key, value):
    weights = stable_softmax(attention_scores(query, key))
    return torch.einsum("...qk,...kv->...qv", weights, value), weights

# %% [wrong] scaled_by_value_width | Divides by the root of the width of the values, d_v, in place of d_k.
def attention(query, key, value):
    d = value.shape[-1]
    weights = torch.softmax(query @ key.mT / d**0.5, dim=-1)
    return weights @ value, weights

# %% [wrong] returns_scores | Returns the scores before the softmax as the second result.
def attention(query, key, value):
    weights = scaled_scores(query, key)
    output = stable_softmax(weights) @ value
    return output, weights

# %% [wrong] weights_transposed | Mixes the values with the transposed weights: each output is weighted by a column of the map.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    output = torch.einsum("...kq,...kv->...qv", weights, value)
    return output, weights

# %% [right] exp_minus_logsumexp | Takes exp(score − logsumexp) for the weights, and broadcasts and sums for the mean.
def attention(query, key, value):
    scores = torch.einsum("...qd,...kd->...qk", query, key).div(math.sqrt(key.size(-1)))
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    output = (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2)
    return output, weights
