# %% [wrong] mask_inverted | masked_fill hides where the mask is True, as in nn.MultiheadAttention; here True means may attend, so it should be ~mask
def masked_attention(query, key, value, mask=None):
    s = scaled_scores(query, key)
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    w = stable_softmax(s)
    return w @ value, w

# %% [wrong] zero_scores | Hidden scores are multiplied to 0 instead of −∞; exp(0) = 1, so hidden keys still get weight
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores * mask
    weights = stable_softmax(scores)
    return weights @ value, weights

# %% [wrong] mask_after_softmax | The weights are multiplied by the mask after the softmax and not divided by their sum again, so rows add up to less than 1
def masked_attention(query, key, value, mask=None):
    out, w = attention(query, key, value)
    if mask is None:
        return out, w
    w = w.masked_fill(~mask, 0.0)
    return w @ value, w

# %% [wrong] nan_rows | torch.softmax makes NaN of a row of −∞, so a query that may attend nowhere gets NaN weights and a NaN output instead of zeros; stable_softmax is needed
def masked_attention(query, key, value, mask=None):
    logits = scaled_scores(query, key)
    if mask is not None:
        logits = torch.where(mask, logits, torch.full_like(logits, -math.inf))
    p = torch.softmax(logits, dim=-1)
    return p @ value, p

# %% [wrong] minus_1e9 | Hidden scores get −10⁹ instead of −∞: in a row where all keys are hidden all scores are equal, and the query attends to everything evenly instead of getting zeros
def masked_attention(query, key, value, mask=None):
    sc = scaled_scores(query, key)
    if mask is not None:
        sc = sc.masked_fill(mask == 0, -1e9)   # as in the annotated transformer
    a = stable_softmax(sc, -1)
    return torch.matmul(a, value), a

# %% [wrong] extra_axis | mask[:, None] puts an axis in second place "for the heads": a mask (Q, K) becomes (Q, 1, K), and the weights get the shape (Q, Q, K)
def masked_attention(query, key, value, mask=None):
    e = scaled_scores(query, key)
    if mask is not None:
        e = e.masked_fill(~mask[:, None], -math.inf)
    alpha = stable_softmax(e)
    return alpha @ value, alpha

# %% [right] additive | the bool mask becomes an additive one of 0 and −∞, added to the scores
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        wall = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
        scores = scores + wall.masked_fill(mask.logical_not(), -math.inf)
    weights = stable_softmax(scores, dim=-1)
    return weights @ value, weights
