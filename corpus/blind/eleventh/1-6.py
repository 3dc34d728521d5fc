# %% [wrong] if_mask | Asks `if mask:` where it should ask `if mask is not None:`. A tensor of several numbers has no truth value, so every call with a mask ends in a RuntimeError.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights


# %% [wrong] minus_a_billion | Hides with -1e9 instead of -inf. Where some key is allowed nothing is seen of it; a query that may attend nowhere looks at all keys alike, where its weights and its output should be zero.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, value), p_attn


# %% [wrong] renormalised_afterwards | Takes the softmax over all keys first, sets hidden weights to 0 and divides by what is left. Where a hidden key has a much larger score than the allowed ones, their weights have already been rounded to 0 (or below the clamp), and the row does not sum to 1.
def masked_attention(query, key, value, mask=None):
    weights = stable_softmax(scaled_scores(query, key))
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)
    return weights @ value, weights


# %% [wrong] only_the_output_is_mended | A query that may attend nowhere gets NaN weights from torch.softmax. Only the output is mended to zero; the weights come back as NaN and should be zero too.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    safe = torch.nan_to_num(weights, nan=0.0)
    return safe @ value, weights


# %% [wrong] mask_gets_an_axis_for_heads | Copied from a multi-head layer: the mask gets an extra axis at 1. A mask (B, 1, K) becomes (B, 1, 1, K) and broadcasts against (B, Q, K) to (B, B, Q, K); a square mask (Q, K) becomes (Q, 1, K), and the rows of the mask land on a new batch axis.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        mask = mask.unsqueeze(1)
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = stable_softmax(scores, dim=-1)
    output = weights @ value
    return output, weights


# %% [right] let_them_look_then_silence | A query that may look nowhere is allowed to look everywhere, and multiplied by zero after the softmax, so that no -inf row ever arises.
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is None:
        weights = scores.softmax(-1)
    else:
        somewhere = mask.any(dim=-1, keepdim=True)
        penalty = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device)
        penalty[~mask & somewhere] = -math.inf
        weights = (scores + penalty).softmax(-1) * somewhere
    return torch.einsum("...qk,...kd->...qd", weights, value), weights
