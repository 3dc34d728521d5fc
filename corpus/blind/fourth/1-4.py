# %% [wrong] softmax_over_queries | The softmax runs over the queries: each column sums to 1, each row does not.
def attention(query, key, value):
    weights = torch.softmax(scaled_scores(query, key), dim=-2)
    return weights @ value, weights


# %% [wrong] softmax_dim_one | `dim=1` are the keys without a batch, and the queries with one.
def attention(query, key, value):
    scores = scaled_scores(query, key)
    weights = scores.softmax(dim=1)
    output = weights.matmul(value)
    return output, weights


# %% [wrong] unscaled | Takes the plain scores of 1.1: the division by √d_k is missing.
def attention(query, key, value):
    w = stable_softmax(attention_scores(query, key))
    return w @ value, w


# %% [wrong] weights_first | Returns the weights first and the output second.
def attention(query, key, value):
    attn = stable_softmax(scaled_scores(query, key))
    out = torch.einsum("...qk,...kv->...qv", attn, value)
    return attn, out


# %% [wrong] mixes_keys | Mixes the keys in place of the values.
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    output = weights @ key
    return output, weights


# %% [wrong] root_of_value_width | Divides by the root of the width of the values, d_v, in place of d_k.
def attention(query, key, value):
    d = value.shape[-1]
    weights = torch.softmax(attention_scores(query, key) / d ** 0.5, dim=-1)
    return weights @ value, weights


# %% [right] query_by_query | Goes query by query in a loop, and stacks the weights and the weighted means.
def attention(query, key, value):
    rows, means = [], []
    for q in query.unbind(-2):
        w = torch.softmax((key * q.unsqueeze(-2)).sum(-1) / q.shape[-1] ** 0.5, -1)
        rows.append(w)
        means.append((w.unsqueeze(-1) * value).sum(-2))
    return torch.stack(means, -2), torch.stack(rows, -2)
