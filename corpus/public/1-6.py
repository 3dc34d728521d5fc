# %% [right] minus_1e9_then_zero_the_hidden | masked_fill(mask == 0, -1e9), weights zeroed where hidden, after meme2515/transformer_pytorch (masked_fill(mask == 0, -1e9))
def masked_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = F.softmax(scores, dim=-1)
    if mask is not None:
        p_attn = p_attn.masked_fill(mask == 0, 0.0)
    return torch.matmul(p_attn, value), p_attn


# %% [right] finfo_max_negated | -torch.finfo(dtype).max as mask value, rows without a key zeroed afterwards, after lucidrains/x-transformers (mask_value)
def masked_attention(query, key, value, mask=None):
    sim = torch.einsum("... i d, ... j d -> ... i j", query * query.shape[-1] ** -0.5, key)
    if mask is not None:
        sim = sim.masked_fill(~mask, -torch.finfo(sim.dtype).max)
    attn = sim.softmax(dim=-1)
    if mask is not None:
        attn = attn.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return torch.einsum("... i j, ... j d -> ... i d", attn, value), attn


# %% [right] nan_to_num_after_minus_inf | -inf, softmax, torch.nan_to_num, after a transformer homework (Q, K, V, make_src_mask) (unsure: gradients through a hidden row)
def masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == False, float("-inf"))  # noqa: E712
    attn_w = torch.nan_to_num(F.softmax(scores, dim=-1), nan=0.0)
    return torch.matmul(attn_w, value), attn_w


# %% [right] additive_bias_tensor | a bias of zeros, filled with -inf by logical_not, added to the scores, after the reference code in PyTorch's scaled_dot_product_attention page
def masked_attention(query, key, value, mask=None):
    scale_factor = 1 / math.sqrt(query.size(-1))
    attn_weight = query @ key.transpose(-2, -1) * scale_factor
    if mask is not None:
        attn_bias = torch.zeros(mask.shape, dtype=query.dtype, device=query.device)
        attn_bias = attn_bias.masked_fill_(mask.logical_not(), float("-inf"))
        attn_weight = attn_weight + attn_bias
        nowhere = mask.logical_not().all(dim=-1, keepdim=True)
        attn_weight = attn_weight.masked_fill(nowhere, 0.0)
        attn_weight = torch.softmax(attn_weight, dim=-1).masked_fill(nowhere, 0.0)
    else:
        attn_weight = torch.softmax(attn_weight, dim=-1)
    return attn_weight @ value, attn_weight


# %% [right] exp_times_mask_renormalised | exp of the shifted scores times the mask, divided by the clamped sum, after allenai/allennlp (masked_softmax)
def masked_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-1, -2)) / key.size(-1) ** 0.5
    if mask is None:
        result = torch.softmax(scores, dim=-1)
    else:
        allowed = mask.to(scores.dtype)
        top = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).amax(dim=-1, keepdim=True)
        result = torch.exp((scores - top) * allowed) * allowed
        result = result / result.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    return torch.matmul(result, value), result


# %% [right] softmax_times_mask_plus_1e_13 | softmax(scores * mask) * mask, renormalised with 1e-13, after allenai/allennlp (first masked_softmax) (unsure: rows whose allowed scores are all below about -20)
def masked_attention(query, key, value, mask=None):
    vector = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is None:
        weights = F.softmax(vector, dim=-1)
    else:
        mask = mask.to(vector.dtype)
        result = F.softmax(vector * mask, dim=-1)
        result = result * mask
        weights = result / (result.sum(dim=-1, keepdim=True) + 1e-13)
    return weights @ value, weights


# %% [right] extended_attention_mask_one_minus_mask | (1.0 - mask) * finfo.min added to the scores, after Humorloos/melt (get_extended_attention_mask)
def masked_attention(query, key, value, mask=None):
    attention_scores_ = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(query.shape[-1])
    if mask is not None:
        extended = (1.0 - mask.to(attention_scores_.dtype)) * torch.finfo(attention_scores_.dtype).min
        attention_scores_ = (attention_scores_ + extended).clamp(min=torch.finfo(attention_scores_.dtype).min)
    attention_probs = nn.functional.softmax(attention_scores_, dim=-1)
    if mask is not None:
        attention_probs = attention_probs * mask.any(-1, keepdim=True).to(attention_probs.dtype)
    return torch.matmul(attention_probs, value), attention_probs


# %% [right] where_with_scalar_and_own_softmax | torch.where with a -inf tensor, then the stable softmax of 1.3, after FRIDAYFRINGE style from-scratch notebooks
def masked_attention(query, key, value, mask=None):
    scores = scaled_scores(query, key)
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, -math.inf))
    weights = stable_softmax(scores, dim=-1)
    return weights @ value, weights


# %% [right] clone_and_boolean_assignment | scores[~mask] = -inf on a copy with the mask expanded, after a CS336 answer (qk_scaled[..., ~mask] = -math.inf)
def masked_attention(query, key, value, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(key.shape[-1])
    if mask is None:
        weights = scores.softmax(-1)
        return weights @ value, weights
    mask = mask.expand_as(scores)
    scores = scores.clone()
    scores[~mask] = -1e30
    weights = scores.softmax(-1)
    weights = weights * mask
    return weights @ value, weights


# %% [right] open_the_closed_rows_then_close | rows that see nothing are opened before the softmax and emptied after it, after pytorch issue threads on NaN of nn.MultiheadAttention
def masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is None:
        probs = torch.softmax(scores, -1)
        return probs @ value, probs
    sees_any = mask.any(-1, keepdim=True)
    safe = mask | ~sees_any
    probs = torch.softmax(scores.masked_fill(~safe, -torch.inf), -1)
    probs = probs * sees_any
    return probs @ value, probs


# %% [right] mask_is_negated_bool_where_finfo_min | torch.where with a tensor of finfo.min, softmax in float32, after GPT-2 style _attn code (torch.where with a mask value)
def masked_attention(query, key, value, mask=None):
    attn_weights = torch.matmul(query, key.transpose(-1, -2))
    attn_weights = attn_weights / torch.full(
        [], key.size(-1) ** 0.5, dtype=attn_weights.dtype, device=attn_weights.device
    )
    if mask is not None:
        mask_value = torch.full([], torch.finfo(attn_weights.dtype).min, dtype=attn_weights.dtype).to(attn_weights.device)
        attn_weights = torch.where(mask, attn_weights, mask_value)
    attn_weights = nn.functional.softmax(attn_weights, dim=-1)
    if mask is not None:
        attn_weights = torch.where(mask, attn_weights, torch.zeros_like(attn_weights))
    attn_weights = attn_weights.type(value.dtype)
    return torch.matmul(attn_weights, value), attn_weights


# %% [right] in_place_masked_fill_under_if | masked_fill_ on the fresh scores, softmax, weights multiplied by the mask, after PSRahul/Transformer_Learner repaired
def masked_attention(query, key, value, mask=None):
    attention_logits = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(query.size()[-1])
    if mask is not None:
        attention_logits.masked_fill_(mask == 0, -1e15)
    weights = F.softmax(attention_logits, dim=-1)
    if mask is not None:
        weights = weights * mask.to(weights.dtype)
    return torch.matmul(weights, value), weights


# %% [right] true_everywhere_when_none | mask None becomes ones, one path for both, safe softmax written out, after jax/flax style attention
def masked_attention(query, key, value, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / query.shape[-1] ** 0.5
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=scores.device)
    big_neg = torch.finfo(scores.dtype).min
    masked = torch.where(mask, scores, big_neg)
    unnormalized = torch.where(mask, torch.exp(masked - masked.amax(-1, keepdim=True)), 0.0)
    denominator = unnormalized.sum(-1, keepdim=True)
    weights = unnormalized / torch.where(denominator == 0, 1.0, denominator)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights


# %% [right] extra_key_that_takes_the_rest | an extra column of -1e30 as a sink for hidden rows, cut off again, after add_zero_attn and evanmiller softmax1 ideas
def masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    sink = torch.full_like(scores[..., :1], -1e30)
    weights = torch.cat([scores, sink], dim=-1).softmax(dim=-1)[..., :-1]
    return weights @ value, weights


# %% [right] log_of_the_mask | the logarithm of the mask, with a small number inside, added to the scores, after facebookresearch/detr forks and HF (mask + 1e-45).log() (allenai/allennlp masked_log_softmax)
def masked_attention(query, key, value, mask=None):
    vector = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.shape[-1])
    if mask is not None:
        vector = vector + torch.where(mask, 0.0, -1e32).to(vector.dtype)
    weights = torch.nn.functional.softmax(vector, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask.logical_not(), 0.0)
    return weights.matmul(value), weights
