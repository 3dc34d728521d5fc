# %% [wrong] softmax_over_queries | the softmax runs along the queries (dim=-2), so the columns sum to 1 and not the rows
def attention(query, key, value):
    scores = scaled_scores(query, key)
    weights = stable_softmax(scores, dim=-2)
    return weights @ value, weights
# %% [wrong] softmax_dim_one | dim=1 is the axis of the keys only without a batch; with one batch dimension it is the axis of the queries
def attention(query, key, value):
    weights = torch.softmax(scaled_scores(query, key), dim=1)
    output = weights @ value
    return output, weights
# %% [wrong] softmax_without_dim | nn.Softmax() without dim guesses the axis: it takes axis 1 for matrices, but axis 0, the batch, for three axes
def attention(query, key, value):
    softmax = nn.Softmax()
    w = softmax(scaled_scores(query, key))
    return torch.matmul(w, value), w
# %% [wrong] unscaled | attention_scores is used instead of scaled_scores, so the division by the root of d_k is missing
def attention(query, key, value):
    weights = stable_softmax(attention_scores(query, key))
    return weights @ value, weights
# %% [wrong] scaled_twice | the scores of scaled_scores are divided by the root of d_k once more
def attention(query, key, value):
    d_k = query.size(-1)
    scores = scaled_scores(query, key) / math.sqrt(d_k)
    attn = torch.softmax(scores, dim=-1)
    return torch.matmul(attn, value), attn
# %% [wrong] scaled_by_value_width | divides by the root of the values' width d_v instead of d_k
def attention(query, key, value):
    d = value.shape[-1]
    scores = attention_scores(query, key) / math.sqrt(d)
    p = stable_softmax(scores)
    return p @ value, p
# %% [wrong] return_order | returns the weights first and the output second
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    output = weights @ value
    return weights, output
# %% [wrong] only_output | returns only the output; the weights are missing
def attention(query, key, value):
    """Scaled dot-product attention."""
    w = stable_softmax(scaled_scores(query, key))
    return w @ value
# %% [wrong] scores_for_weights | returns the scores as the second value instead of the weights after the softmax
def attention(query, key, value):
    scores = scaled_scores(query, key)
    output = stable_softmax(scores) @ value
    return output, scores
# %% [wrong] weights_transposed_in_mix | the values are mixed with the transposed weights, which fits only for as many queries as keys and is wrong even then
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    out = weights.transpose(-2, -1) @ value
    return out, weights
# %% [wrong] value_times_weights | the factors of the last product are swapped: value @ weights instead of weights @ value
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key), dim=-1)
    output = value @ weights
    return output, weights
# %% [wrong] no_softmax | the softmax is missing: the raw scaled scores are used as weights
def attention(query, key, value):
    weights = scaled_scores(query, key)
    return weights @ value, weights
# %% [wrong] elementwise_mix | weights and values are multiplied element by element (*) instead of by a matrix product
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    output = weights * value
    return output, weights
# %% [wrong] ready_made_attention | the output comes from the ready-made F.scaled_dot_product_attention, which is not allowed
def attention(query, key, value):
    output = F.scaled_dot_product_attention(query, key, value)
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    return output, weights
# %% [wrong] weights_detached | the weights are detached before the values are mixed, so no gradient reaches query and key
def attention(query, key, value):
    scores = scaled_scores(query, key)
    weights = stable_softmax(scores).detach()
    return weights @ value, weights
# %% [wrong] hard_choice | picks the best key with argmax and one-hot weights; attention must mix softly
def attention(query, key, value):
    scores = scaled_scores(query, key)
    best = scores.argmax(dim=-1)
    weights = F.one_hot(best, num_classes=key.shape[-2]).to(scores.dtype)
    return weights @ value, weights
# %% [wrong] dropout_always_on | dropout is applied to the weights on every call; nothing random is asked for
def attention(query, key, value):
    p_attn = stable_softmax(scaled_scores(query, key))
    p_attn = F.dropout(p_attn, p=0.1)
    return torch.matmul(p_attn, value), p_attn
# %% [wrong] mixes_keys | the weights mix the keys instead of the values; value is ignored
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    output = weights @ key
    return output, weights
# %% [wrong] query_key_swapped | scaled_scores is called with key and query swapped, so rows belong to keys
def attention(query, key, value):
    scores = scaled_scores(key, query)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] softmax_twice | the softmax is applied twice, which flattens the weights
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    output = torch.softmax(weights, dim=-1) @ value
    return output, torch.softmax(weights, dim=-1)
# %% [wrong] causal_by_default | hides later keys with a causal triangle, although this exercise has no mask
def attention(query, key, value):
    scores = scaled_scores(query, key)
    T, S = scores.shape[-2:]
    tril = torch.tril(torch.ones(T, S, device=scores.device))
    scores = scores.masked_fill(tril == 0, float("-inf"))
    wei = F.softmax(scores, dim=-1)
    return wei @ value, wei
# %% [wrong] sum_division_without_exp | the scores are divided by their sum without exp, so weights may be negative or huge
def attention(query, key, value):
    s = scaled_scores(query, key)
    weights = s / s.sum(dim=-1, keepdim=True)
    return weights @ value, weights
# %% [wrong] sigmoid_weights | each score goes through a sigmoid of its own, so the rows do not sum to 1
def attention(query, key, value):
    weights = torch.sigmoid(scaled_scores(query, key))
    return weights @ value, weights
# %% [wrong] rounded_weights | the weights are rounded to three decimals to match the expected figures
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    weights = torch.round(weights * 1000) / 1000
    return weights @ value, weights
# %% [wrong] einsum_one_batch_axis | the einsum of weights and values names one batch axis, so inputs without a batch or with two batch axes raise
def attention(query, key, value):
    A = torch.softmax(scaled_scores(query, key), dim=-1)
    O = torch.einsum("bqk,bkv->bqv", A, value)
    return O, A
# %% [wrong] unscaled_and_order | the root of d_k is missing (attention_scores is used) AND the weights are returned before the output
def attention(query, key, value):
    attn = stable_softmax(attention_scores(query, key))
    out = attn @ value
    return attn, out
# %% [wrong] softmax_name_unknown | calls softmax, a name that does not exist here (stable_softmax is meant): NameError
def attention(query, key, value):
    weights = softmax(scaled_scores(query, key), dim=-1)
    return weights @ value, weights
# %% [right] einsum_all_through | everything written out with einsum and torch.softmax
def attention(query, key, value):
    s = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
    a = torch.softmax(s, dim=-1)
    return torch.einsum("...qk,...kv->...qv", a, value), a
# %% [right] softmax_of_transposed_scores | works with (..., K, Q) scores, softmax along the keys, then transposes
def attention(query, key, value):
    scores_kq = scaled_scores(key, query)           # (..., K, Q)
    shares = stable_softmax(scores_kq, dim=-2)      # over the keys
    weights = shares.transpose(-2, -1)
    return torch.matmul(weights, value), weights
# %% [right] loop_over_queries | handles one query after another and stacks
def attention(query, key, value):
    outputs, rows = [], []
    for q in query.unbind(dim=-2):
        row = F.softmax(scaled_scores(q.unsqueeze(-2), key), dim=-1)    # (..., 1, K)
        rows.append(row)
        outputs.append(row @ value)
    return torch.cat(outputs, dim=-2), torch.cat(rows, dim=-2)
# %% [right] weighted_sum_by_broadcast | mixes by broadcasting and summing over the keys instead of a matrix product
def attention(query, key, value):
    weights = stable_softmax(scaled_scores(query, key))
    output = (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(dim=-2)
    return output, weights
