# %% [wrong] softmax_over_queries | The softmax runs along the queries (dim=-2): each column sums to 1. Each query should share its weight among the keys, so each row should sum to 1.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key), dim=-2)
    output = weights @ value
    return output, weights

# %% [wrong] softmax_without_dim | F.softmax without dim picks the axis by itself: 1 for two axes, which is right, but 0 for three, so with a batch (B, Q, K) the weights sum to 1 over the batch and not over the keys.
def attention(query, key, value):
    scores = scaled_scores(query, key)
    weights = F.softmax(scores)
    return torch.matmul(weights, value), weights

# %% [wrong] weights_come_first | Both results are right but in the wrong order: the weights are returned first and the output second. It should be output, weights.
def attention(query, key, value):
    w = torch.softmax(scaled_scores(query, key), dim=-1)
    out = torch.einsum("...qk,...kv->...qv", w, value)
    return w, out

# %% [wrong] root_of_the_value_width | The scores are divided by the root of the width of the values, d_v, where it should be d_k. As long as both are equally wide nothing shows; with d_v ≠ d_k weights and output are off.
def attention(query, key, value):
    d = value.shape[-1]
    logits = attention_scores(query, key) / math.sqrt(d)
    weights = logits.softmax(-1)
    return weights @ value, weights

# %% [wrong] ready_made_output | The numbers are right, but the output comes from F.scaled_dot_product_attention, a ready-made attention, which the task forbids. It should be made from the weights and the values.
def attention(query, key, value):
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    output = F.scaled_dot_product_attention(query, key, value)
    return output, weights

# %% [right] query_by_query | Goes through the queries one at a time, with sums in place of matrix products, and stacks the results.
def attention(query, key, value):
    outputs, maps = [], []
    for one in query.unbind(dim=-2):
        fit = (one.unsqueeze(-2) * key).sum(-1) * key.shape[-1] ** -0.5
        share = torch.softmax(fit, dim=-1)
        maps.append(share)
        outputs.append((share.unsqueeze(-1) * value).sum(-2))
    return torch.stack(outputs, dim=-2), torch.stack(maps, dim=-2)
