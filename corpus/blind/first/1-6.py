# %% [wrong] mask_turned_round | hides where the mask is True; here True means may attend, so ~ is missing
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] where_turned_round | torch.where puts -inf where the mask is True and keeps the scores of the hidden keys: the two branches are swapped
def masked_attention(query, key, value, mask=None):
    s = scaled_scores(query, key)
    if mask is not None:
        s = torch.where(mask, torch.full_like(s, -math.inf), s)
    p = stable_softmax(s)
    return p @ value, p
# %% [wrong] hidden_scores_zero | hidden scores are set to 0 instead of -inf, and exp(0) = 1 still gives them weight
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, 0.0)
    weights = stable_softmax(scores)
    output = weights @ value
    return output, weights
# %% [wrong] scores_times_mask | the scores are multiplied with the mask, so hidden scores become 0 and not -inf
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores * mask
    attn = stable_softmax(scores, dim=-1)
    return attn @ value, attn
# %% [wrong] weights_masked_after | the weights are set to 0 after the softmax, so the rows no longer sum to 1
def masked_attention(query, key, value, mask=None):
    weights = stable_softmax(scaled_scores(query, key))
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value, weights
# %% [wrong] renormalised_zero_over_zero | masks after the softmax and divides by the rows' sums: a query that may attend nowhere gives 0/0 = NaN
def masked_attention(query, key, value, mask=None):
    out, w = attention(query, key, value)
    if mask is not None:
        w = w * mask.to(w.dtype)
        w = w / w.sum(dim=-1, keepdim=True)
        out = w @ value
    return out, w
# %% [wrong] minus_a_billion | hidden scores become -1e9 and not -inf, so a query that may attend nowhere gets uniform weights instead of zeros
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, value), p_attn
# %% [wrong] torch_softmax_nan | torch.softmax gives NaN for a row of -inf, so a query that may attend nowhere gets NaN instead of zeros
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
# %% [wrong] mask_ignored | the mask is accepted but never used
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] none_not_handled | mask=None is not handled: ~None raises TypeError
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key).masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] truth_of_mask | "if mask:" asks for the truth of a whole tensor and raises; "is not None" is meant
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] bool_mask_added | the bool mask is added to the scores as if it were an additive one: True adds 1 and nothing is hidden
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores + mask
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] fill_result_thrown_away | the result of masked_fill is not kept (it does not work in place), so nothing is hidden
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] unscaled_scores | uses attention_scores, so the division by the root of d_k is missing
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores, dim=-1)
    return weights @ value, weights
# %% [wrong] output_from_unmasked | the output is mixed with the weights of unmasked attention; only the returned weights are masked
def masked_attention(query, key, value, mask=None):
    output, weights = attention(query, key, value)
    if mask is not None:
        scores = scaled_scores(query, key).masked_fill(~mask, -math.inf)
        weights = stable_softmax(scores)
    return output, weights
# %% [wrong] return_order | returns weights first and output second
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = torch.where(mask, scores, -math.inf)
    weights = stable_softmax(scores)
    return weights, weights @ value
# %% [wrong] causal_when_none | without a mask it falls back to a causal mask; it should then be plain attention
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is None:
        T, S = scores.shape[-2:]
        mask = torch.ones(T, S, dtype=torch.bool, device=scores.device).tril()
    weights = stable_softmax(scores.masked_fill(~mask, -math.inf))
    return weights @ value, weights
# %% [wrong] mask_changed_in_place | the caller's mask is negated in place (logical_not_), so it is turned round after the call
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        hidden = mask.logical_not_()
        scores = scores.masked_fill(hidden, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] boolean_indexing | scores[~mask] needs a mask of exactly the scores' shape; a mask that should broadcast, such as (B, 1, K), raises
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key).clone()
    if mask is not None:
        scores[~mask] = -math.inf
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] mask_transposed | the mask is transposed before use, so queries and keys change roles in it
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        mask = mask.transpose(-2, -1)
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] head_axis_inserted | mask.unsqueeze(1) adds an axis for heads that are not there, so a batched mask gives a result with one axis too many
def masked_attention(query, key, value, mask=None):
    if mask is not None:
        mask = mask.unsqueeze(1)      # same mask for all heads
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask == False, -math.inf)
    weights = stable_softmax(scores)
    return torch.matmul(weights, value), weights
# %% [wrong] plus_infinity | hidden scores become +inf, the minus sign is missing, so they draw everything and give NaN
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] ready_made_attention | everything is computed by the ready-made F.scaled_dot_product_attention, which is not allowed
def masked_attention(query, key, value, mask=None):
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], key.shape[-2])
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    eye = torch.eye(key.shape[-2], dtype=key.dtype, device=key.device).expand(*key.shape[:-1], -1)
    weights = F.scaled_dot_product_attention(query, key, eye, attn_mask=mask)
    if mask is not None:
        dead = ~mask.any(-1, keepdim=True)
        output, weights = output.masked_fill(dead, 0.0), weights.masked_fill(dead, 0.0)
    return output, weights
# %% [wrong] all_false_mask_skipped | a mask without any True is skipped (mask.any()), so a batch in which nobody may look anywhere is attended to in full
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None and mask.any():
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] zero_weights_after_mixing | for a query that may attend nowhere the weights are zeroed only after the output was mixed, so its output is the mean of the values and not zero
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    output = weights @ value
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return output, weights
# %% [wrong] always_causal | the mask that is handed in is replaced by a causal mask, so a padding mask is not obeyed
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        Q, K = scores.shape[-2:]
        mask = torch.tril(torch.ones(Q, K, device=scores.device)).bool()
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [wrong] softmax_over_queries | the softmax runs over the queries (dim=-2) instead of the keys
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = stable_softmax(scores, dim=-2)
    return weights @ value, weights
# %% [wrong] turned_round_and_nan | the mask is turned round (True is hidden) AND torch.softmax gives NaN for queries that may attend nowhere
def masked_attention(query, key, value, mask=None):
    att = (query @ key.transpose(-2, -1)) * (1.0 / math.sqrt(key.size(-1)))
    if mask is not None:
        att = att.masked_fill(mask, float("-inf"))
    att = F.softmax(att, dim=-1)
    return att @ value, att
# %% [right] additive_by_hand | makes an additive mask of 0 and -inf and adds it, then stable_softmax
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device).masked_fill(~mask, -math.inf)
        scores = scores + bias
    weights = stable_softmax(scores)
    return weights @ value, weights
# %% [right] finfo_min_then_zero | smallest finite number, torch.softmax, then hidden weights set to exactly 0 before mixing
def masked_attention(query, key, value, mask=None):
    if mask is None:
        return attention(query, key, value)
    scores = scaled_scores(query, key)
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = F.softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ value, weights
# %% [right] where_and_einsum | torch.where, everything written with einsum
def masked_attention(query, key, value, mask=None):
    s = torch.einsum("...qd,...kd->...qk", query, key) / key.shape[-1] ** 0.5
    if mask is not None:
        s = torch.where(mask, s, torch.full_like(s, float("-inf")))
    a = stable_softmax(s, dim=-1)
    return torch.einsum("...qk,...kv->...qv", a, value), a
# %% [right] safe_rows_torch_softmax | opens fully hidden rows before torch.softmax, and zeroes them after
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
        return weights @ value, weights
    nowhere = ~mask.any(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~(mask | nowhere), -math.inf), dim=-1)
    weights = weights.masked_fill(nowhere, 0.0)
    return weights @ value, weights
