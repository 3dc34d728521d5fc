# %% [wrong] softmax_over_queries | The softmax runs along dim=-2, over the queries, so the columns sum to 1 instead of the rows
def attention(query, key, value):
    s = scaled_scores(query, key)
    w = stable_softmax(s, dim=-2)
    return w @ value, w

# %% [wrong] order_of_returns | The pair is returned as (weights, output); the task wants the output first
def attention(query, key, value):
    weights = torch.softmax(scaled_scores(query, key), dim=-1)
    context = torch.einsum("...qk,...kv->...qv", weights, value)
    return weights, context

# %% [wrong] no_scale | It takes attention_scores, without the division by √d_k, so the weights are too sharp
def attention(query, key, value):
    logits = attention_scores(query, key)
    probs = logits.softmax(-1)
    return probs @ value, probs

# %% [wrong] width_of_value | The scores are divided by the root of value.shape[-1] (d_v) instead of d_k: wrong as soon as the two widths differ
def attention(query, key, value):
    d = value.size(-1)
    att = (query @ key.transpose(-1, -2) / math.sqrt(d)).softmax(dim=-1)
    return att @ value, att

# %% [wrong] scores_returned | The second return value is the scaled scores before the softmax, not the weights: its rows do not sum to 1
def attention(query, key, value):
    attn = scaled_scores(query, key)
    out = stable_softmax(attn) @ value
    return out, attn

# %% [wrong] bmm_only | torch.bmm wants exactly three axes, so it fails without a batch (the three tokens of the example) and with two batch axes; it should be @
def attention(query, key, value):
    w = stable_softmax(scaled_scores(query, key))
    return torch.bmm(w, value), w

# %% [right] einsum_both | scores and mixing as einsums, with the scale inside
def attention(query, key, value):
    logits = torch.einsum("...qd,...kd->...qk", query, key) * key.shape[-1] ** -0.5
    weights = logits.softmax(dim=-1)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights
