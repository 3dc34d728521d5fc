# %% [wrong] minus_one_billionth | A hidden score becomes −1e-9, a number next to 0, and not a huge negative one: hidden keys keep their weight.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e-9)
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] smallest_finite_number | Hidden scores become the smallest finite number and not −∞, so a query that may attend nowhere spreads its weight evenly.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights

# %% [wrong] first_mask_for_the_whole_batch | Of a mask with a batch only the first one is taken, so all examples are masked as the first one is.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        while mask.ndim > 2:
            mask = mask[0]
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    weights = stable_softmax(scores)
    return weights @ value, weights
