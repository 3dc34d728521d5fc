# %% [wrong] softmax_along_axis_one | The softmax runs along axis 1. Without a batch these are the keys, but with a batch in front they are the queries. It should be the last axis, dim=-1.
def attention(query, key, value):
    scores = scaled_scores(query, key)
    weights = torch.softmax(scores, dim=1)
    output = torch.matmul(weights, value)
    return output, weights
# %% [wrong] scaled_by_value_width | The scores are divided by the root of d_v, the width of a value, and not of d_k. It only agrees where values are as wide as keys.
def attention(query, key, value):
    """Scaled dot-product attention."""
    d = value.shape[-1]
    s = torch.einsum("...qd,...kd->...qk", query, key) / d ** 0.5
    p = stable_softmax(s)
    return torch.einsum("...qk,...kv->...qv", p, value), p
# %% [wrong] weights_without_gradient | The weights are computed under no_grad, so no gradient reaches queries and keys and attention cannot learn where to look. Leave the no_grad out.
def attention(query, key, value):
    with torch.no_grad():
        # the weights only say where to look, the values carry the content
        weights = stable_softmax(scaled_scores(query, key), dim=-1)
    output = weights @ value
    return output, weights
