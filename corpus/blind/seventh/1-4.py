# %% [wrong] softmax_along_axis_one | dim=1 is the key axis only without a batch; for (B, Q, K) it is the query axis, so the columns sum to 1 and not the rows. It should be dim=-1.
def attention(query, key, value):
    s = scaled_scores(query, key)
    weights = torch.softmax(s, dim=1)
    return weights @ value, weights

# %% [wrong] scaled_twice | scaled_scores already divides by the root of d_k, and the line below divides again, so the scores are divided by d_k and the weights come out too even.
def attention(query, key, value):
    scores = scaled_scores(query, key) / math.sqrt(query.shape[-1])
    weights = stable_softmax(scores)
    output = weights @ value
    return output, weights

# %% [wrong] mixes_with_the_columns | Vᵀ is multiplied with the weights and not with their transpose, so value k is mixed with what key k got from each query (Wᵀ V); wrong for Q = K, an error otherwise.
def attention(query, key, value):
    A = stable_softmax(scaled_scores(query, key))
    # (V^T A)^T, as in the physics notation with column vectors
    out = (value.transpose(-2, -1) @ A).transpose(-2, -1)
    return out, A

# %% [wrong] root_of_value_width | The scores are divided by the root of value.shape[-1], d_v, instead of d_k; it only agrees where both widths are the same.
def attention(query, key, value):
    scores = attention_scores(query, key) / value.shape[-1] ** 0.5
    weights = torch.softmax(scores, -1)
    return weights @ value, weights

# %% [wrong] weights_without_gradient | The weights are detached before they mix the values, so no gradient reaches query and key and nothing can learn where to look.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key)).detach()  # only a map to look at
    output = torch.matmul(weights, value)
    return output, weights

# %% [wrong] divided_by_key_count | The weighted sum is divided by the number of keys "because it is a mean"; the weights already sum to 1, so the output is K times too small.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    mean = (weights @ value) / key.shape[-2]
    return mean, weights

# %% [right] two_einsums | both products as einsum with an ellipsis, the softmax from PyTorch in between
def attention(query, key, value):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(key.shape[-1])
    weights = scores.softmax(dim=-1)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights
