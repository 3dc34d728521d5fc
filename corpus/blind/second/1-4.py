# %% [right] einsum | right
def attention(query, key, value):
    d_k = query.shape[-1]
    weights = torch.einsum("...qd,...kd->...qk", query, key).mul(d_k**-0.5).softmax(dim=-1)
    output = torch.einsum("...qk,...kv->...qv", weights, value)
    return output, weights

# %% [wrong] softmax_over_queries | The softmax runs along the queries (dim -2), so the columns sum to 1.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key), dim=-2)
    return weights @ value, weights

# %% [wrong] unscaled | attention_scores is used instead of scaled_scores.
def attention(query, key, value):
    weights = stable_softmax(attention_scores(query, key))
    return weights @ value, weights

# %% [wrong] scores_returned | The scores are returned in place of the weights.
def attention(query, key, value):
    scores = scaled_scores(query, key)
    weights = stable_softmax(scores)
    return weights @ value, scores

# %% [wrong] order_of_results | Weights and output are returned in the wrong order.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    return weights, weights @ value

# %% [wrong] mixes_the_keys | The keys are mixed instead of the values.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    return weights @ key, weights

# %% [wrong] weights_transposed | The weights are transposed before they mix the values.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    output = weights.transpose(-2, -1) @ value
    return output, weights

# %% [wrong] scaled_by_value_width | The scores are divided by the root of d_v, the width of the values.
def attention(query, key, value):
    scores = attention_scores(query, key) / math.sqrt(value.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% [wrong] scaled_twice | scaled_scores is divided by the root of d_k once more.
def attention(query, key, value):
    scores = scaled_scores(query, key) / query.shape[-1] ** 0.5
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] softmax_axis_one | The softmax runs along axis 1, which is the queries when there is one batch axis.
def attention(query, key, value):
    weights = torch.softmax(scaled_scores(query, key), dim=1)
    return weights @ value, weights
