# %% [wrong] softmax_dim_one | softmax over dim=1, which is the keys only for plain matrices; with one batch axis it runs over the queries, so the rows do not sum to 1
def attention(query, key, value):
    scores = scaled_scores(query, key)
    attn = torch.softmax(scores, dim=1)
    out = torch.matmul(attn, value)
    return out, attn


# %% [wrong] weights_first | returns (weights, output), the other way round than asked
def attention(query, key, value):
    rows, mixes = [], []
    for i in range(query.shape[-2]):
        row = stable_softmax(scaled_scores(query[..., i : i + 1, :], key))
        rows.append(row)
        mixes.append(row @ value)
    return torch.cat(rows, dim=-2), torch.cat(mixes, dim=-2)


# %% [wrong] scaled_twice | scaled_scores has divided by the root already, and the scores are divided by sqrt(d_k) once more: the weights are too flat
def attention(query, key, value):
    d_k = key.shape[-1]
    weights = stable_softmax(scaled_scores(query, key) / math.sqrt(d_k), dim=-1)
    return weights @ value, weights


# %% [wrong] summed_over_queries | the einsum sums the weights times values over the queries (weights transposed), not over the keys: each key's value is handed to the wrong side; raises where Q != K
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    output = torch.einsum("...ij,...ik->...jk", weights, value)
    return output, weights


# %% [wrong] no_batch_of_matrices | uses torch.mm, which takes two plain matrices only: raises as soon as there is a batch axis
def attention(query, key, value):
    class Result:
        weights = None
        output = None

    result = Result()
    result.weights = stable_softmax(scaled_scores(query, key))
    result.output = torch.mm(result.weights, value)
    return result.output, result.weights


# %% [right] sum_over_keys | the output is built up key by key: each key's column of weights times its value
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key), dim=-1)
    columns = weights.unbind(-1)
    rows = value.unbind(-2)
    output = 0
    for share, content in zip(columns, rows):
        output = output + share.unsqueeze(-1) * content.unsqueeze(-2)
    return output, weights
