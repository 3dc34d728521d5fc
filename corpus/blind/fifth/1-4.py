# %% [wrong] softmax_over_queries | stable_softmax runs with dim=-2, over the queries; the columns sum to 1 and not the rows
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key), dim=-2)
    return weights @ value, weights

# %% [wrong] no_scale | it uses attention_scores, which are not divided by √d_k, so the weights are too sharp
def attention(query, key, value):
    s = attention_scores(query, key)
    w = stable_softmax(s)
    return torch.matmul(w, value), w

# %% [wrong] swapped_returns | the pair comes back as (weights, output); it should be output first
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    output = torch.einsum("...qk,...kd->...qd", weights, value)
    return weights, output

# %% [wrong] scores_returned | the second thing returned is the scaled scores, not the weights after the softmax; its rows do not sum to 1
def attention(query, key, value):
    weights = scaled_scores(query, key)
    output = torch.softmax(weights, dim=-1) @ value
    return output, weights

# %% [wrong] mixes_keys | the weights are multiplied with key in place of value, so the output is (..., Q, d_k) and holds none of the values
def attention(query, key, value):
    similarity = scaled_scores(query, key)
    probs = torch.softmax(similarity, dim=-1)
    mixed = probs @ key
    return mixed, probs

# %% [wrong] softmax_first_batch_axis | torch.softmax runs along dim=1, the keys only where there is exactly one axis in front; with (B, Q, K) it normalises over the queries
def attention(query, key, value):
    weights = torch.softmax(scaled_scores(query, key), dim=1)
    return weights.matmul(value), weights

# %% [right] weighted_sum_by_hand | the mean of the values is written as a broadcast product and a sum over the keys, without a second matrix product
def attention(query, key, value):
    shares = stable_softmax(scaled_scores(query, key), dim=-1)
    portions = shares.unsqueeze(-1) * value.unsqueeze(-3)
    return portions.sum(dim=-2), shares
