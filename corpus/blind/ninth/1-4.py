# %% [wrong] softmax_guesses_its_axis | Calls F.softmax without dim. PyTorch then guesses: the last axis for a matrix, but the first axis for three dimensions and the second for four. With a batch the weights are shared among batch elements, and the rows do not sum to 1.
def attention(query, key, value):
    weights = F.softmax(scaled_scores(query, key))
    return weights @ value, weights

# %% [wrong] rounded_as_in_the_text | Rounds the weights to three digits so that they look like those in the text. The weights should be exact: rows no longer sum to 1, the output is off, and no gradient passes a rounding.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    weights = torch.round(weights, decimals=3)
    output = torch.matmul(weights, value)
    return output, weights

# %% [wrong] output_as_wide_as_the_query | Makes the output buffer with the shape of the query. It should be as wide as a value: where d_v differs from d_k there is an error (or one value number is spread over all columns).
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    output = torch.zeros_like(query)
    for j in range(key.shape[-2]):
        output = output + weights[..., :, j : j + 1] * value[..., j : j + 1, :]
    return output, weights

# %% [wrong] root_of_the_value_width | Divides the scores by the root of d_v, the width of a value. It should be d_k, the width of a key: right only where the two are equal.
def attention(query, key, value):
    root = value.shape[-1] ** 0.5
    scores = attention_scores(query, key) / root
    weights = torch.softmax(scores, -1)
    return torch.einsum("...qk,...kd->...qd", weights, value), weights

# %% [wrong] hands_back_scores | The output is right, but the second thing that comes back is the scores before the softmax. It should be the weights: rows do not sum to 1.
def attention(query, key, value):
    weights = scaled_scores(query, key)
    output = torch.softmax(weights, dim=-1) @ value
    return output, weights

# %% [wrong] picks_the_best_value | Looks up the value of the one key with the largest weight. Attention mixes all values by their weights; here each output is one whole value, and the weights that come back do not fit it.
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    best = weights.argmax(dim=-1, keepdim=True)
    index = best.expand(*best.shape[:-1], value.shape[-1])
    return value.gather(-2, index), weights

# %% [right] key_by_key_running_mean | One loop over the keys with a running largest score and a running sum for the output, then the weights from the same largest score and sum.
def attention(query, key, value):
    scores = scaled_scores(query, key)
    columns = scores.unbind(-1)
    top = columns[0]
    total = torch.ones_like(top)
    mixed = value[..., :1, :] * total.unsqueeze(-1)
    for j in range(1, len(columns)):
        new_top = torch.maximum(top, columns[j])
        old, new = torch.exp(top - new_top), torch.exp(columns[j] - new_top)
        total = total * old + new
        mixed = mixed * old.unsqueeze(-1) + new.unsqueeze(-1) * value[..., j : j + 1, :]
        top = new_top
    weights = torch.exp(scores - top.unsqueeze(-1)) / total.unsqueeze(-1)
    return mixed / total.unsqueeze(-1), weights
