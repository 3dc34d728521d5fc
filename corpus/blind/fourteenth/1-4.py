# %% [wrong] root_of_the_values_width | The scores are divided by the root of d_v, the width of a value, instead of d_k.
def attention(query, key, value):
    scores = attention_scores(query, key) / math.sqrt(value.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights

# %% [wrong] scaled_once_more | scaled_scores has divided by √d_k already, and the function divides once more.
def attention(query, key, value):
    scale = query.shape[-1] ** -0.5
    scores = scaled_scores(query, key) * scale
    weights = stable_softmax(scores)
    output = torch.einsum("...qk,...kv->...qv", weights, value)
    return output, weights

# %% [wrong] weights_detached_for_the_mix | The weights are detached before they mix the values, so the output hands no gradient to query and key.
def attention(query, key, value):
    weights = F.softmax(scaled_scores(query, key), dim=-1)
    mix = weights.detach()
    return mix @ value, weights
