# %% [wrong] score_of_zero_is_hidden | The scores are multiplied by the mask and then every 0 becomes -inf. An allowed key whose score happens to be exactly 0 is hidden as well. Fill where the mask is False, and look at the mask, not at the scores.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores * mask
        scores = torch.where(scores == 0, torch.full_like(scores, -math.inf), scores)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] output_from_unmasked_weights | The returned weights are masked, but the output still comes from the attention without a mask. The values must be mixed with the masked weights.
def masked_attention(query, key, value, mask=None):
    output, weights = attention(query, key, value)
    if mask is None:
        return output, weights
    hidden = ~mask
    scores = scaled_scores(query, key).masked_fill(hidden, float("-inf"))
    weights = stable_softmax(scores, dim=-1)
    return output, weights
# %% [wrong] nan_mended_in_output_only | A query that may look nowhere gets a zero output, but its returned weights are still NaN, because only the output was mended. The weights must be zeros, too: use stable_softmax.
def masked_attention(query, key, value, mask=None):
    s = scaled_scores(query, key)
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), -math.inf)
    w = torch.softmax(s, dim=-1)
    out = torch.nan_to_num(torch.matmul(w, value), nan=0.0)
    return out, w
