# %% [wrong] renormalised_without_a_guard | The weights are masked after the softmax and divided by their sum again, which is right but for a query that may attend nowhere: 0 / 0 gives NaN there; it should give zeros.
def masked_attention(query, key, value, mask=None):
    weights = stable_softmax(scaled_scores(query, key))
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] minus_a_billion | Hidden scores become −1e9 in place of −∞. A query that may attend nowhere then has equal scores, and its weights are uniform; they should be zeros.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -1e9)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] nan_mended_in_the_output_alone | torch.softmax gives NaN for a row of −∞, and nan_to_num is applied to the output alone; the weights need it as well. The returned weights of a query that may attend nowhere are NaN.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    output = torch.nan_to_num(weights @ value)
    return output, weights

# %% [wrong] an_axis_for_heads | The mask gets a new axis with unsqueeze(1), as for several heads; here there are none, and it should broadcast as it is. A (Q, K) mask becomes (Q, 1, K), and weights and output get an axis too many.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        mask = mask.unsqueeze(1)
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] bool_added_as_numbers | The bool mask is added to the scores as an additive mask would be; True adds 1, False adds 0. It should set hidden scores to −∞. Hidden keys still get weight.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    additive = 0.0 if mask is None else mask.to(scores.dtype)
    weights = stable_softmax(scores + additive)
    return weights @ value, weights

# %% [wrong] causal_without_being_asked | Where no mask is given, a causal one is made; without a mask it should be the attention of 1.4. Queries miss all later keys, though nobody asked for that.
def masked_attention(query, key, value, mask=None):
    if mask is None:
        mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
    scores = scaled_scores(query, key).masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return torch.matmul(weights, value), weights

# %% [right] logarithm_of_the_mask | The bool mask becomes an additive one by its logarithm: log 1 = 0, log 0 = −∞; the stable softmax does the rest.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores + mask.to(scores.dtype).log()
    weights = stable_softmax(scores)
    return weights @ value, weights
