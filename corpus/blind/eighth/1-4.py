# %% [wrong] softmax_over_axis_one | The softmax runs along dim=1; it should be -1. Right for matrices; with a batch, axis 1 is the queries, and the columns sum to 1 in place of the rows.
def attention(query, key, value):
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores, dim=1)
    return weights @ value, weights

# %% [wrong] scaled_by_the_width_of_values | The scores are divided by the root of value.shape[-1]; it should be the width of a key, d_k. Right only where d_v = d_k.
def attention(query, key, value):
    scale = math.sqrt(value.shape[-1])
    weights = stable_softmax(attention_scores(query, key) / scale)
    return weights @ value, weights

# %% [wrong] weights_transposed_in_the_mix | The values are mixed with the transposed weights; it should be weights @ value. Fits where Q = K, and there each output is mixed with a column, which does not sum to 1; an error elsewhere.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    mixed = weights.transpose(-2, -1) @ value  # keys first, as value has them
    return mixed, weights

# %% [wrong] softmax_twice | The weights go through the softmax once more on their way to the values; they are shares already. The output is close to the plain mean of the values, and is not what the returned weights say.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    output = torch.softmax(weights, dim=-1) @ value
    return output, weights

# %% [wrong] mean_in_place_of_sum | The weighted values are averaged over the keys with .mean(-2); they should be summed, since the weights are shares already. The output is K times too small.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    parts = weights.unsqueeze(-1) * value.unsqueeze(-3)  # (..., Q, K, d_v)
    return parts.mean(dim=-2), weights

# %% [wrong] hands_back_the_scores | The second thing returned is the scores; it should be the weights. Rows do not sum to 1, and there are negative numbers in the map.
def attention(query, key, value):
    weights = scaled_scores(query, key)
    output = stable_softmax(weights) @ value
    return output, weights

# %% [right] query_scaled_then_einsum | The query is scaled before the product, and both products are einsums that name their axes.
def attention(query, key, value):
    small = query * key.shape[-1] ** -0.5
    weights = torch.einsum("...qd,...kd->...qk", small, key).softmax(dim=-1)
    output = torch.einsum("...qk,...kv->...qv", weights, value)
    return output, weights
