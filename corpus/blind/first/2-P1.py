# %% [wrong] nan_at_zero | 0 · log 0 gives NaN, it should count as 0.
def attention_entropy(weights):
    entropy = -(weights * torch.log(weights)).sum(dim=-1)
    return entropy / math.log(weights.shape[-1])

# %% [wrong] not_divided | The entropy is not divided by log S, the largest there can be.
def attention_entropy(weights):
    return torch.special.entr(weights).sum(-1)

# %% [wrong] two_bases | The numerator uses the natural logarithm and the denominator log2, so an even row does not give 1.
def attention_entropy(weights):
    S = weights.size(-1)
    return torch.special.entr(weights).sum(dim=-1) / np.log2(S)

# %% [wrong] sign_lost | The minus sign is missing, so the results are negative.
def attention_entropy(weights):
    h = torch.special.xlogy(weights, weights).sum(-1)
    return h / math.log(weights.shape[-1])

# %% [wrong] large_epsilon | 0.01 is added inside the logarithm to avoid log 0, which changes all other weights' terms noticeably.
def attention_entropy(weights):
    eps = 1e-2
    return -(weights * (weights + eps).log()).sum(-1) / math.log(weights.shape[-1])

# %% [wrong] one_number_for_all | The mean over all queries is returned, one number for each query is asked for.
def attention_entropy(weights):
    """How widely each query looks: 0 for one key, 1 for all keys alike."""
    per_query = torch.special.entr(weights).sum(-1) / math.log(weights.shape[-1])
    return per_query.mean()

# %% [wrong] divided_by_s | It divides by the number of keys S and not by log S.
def attention_entropy(weights):
    entr = torch.where(weights > 0, -weights * weights.clamp_min(1e-30).log(), 0.0)
    return entr.sum(-1) / weights.shape[-1]

# %% [wrong] log_of_queries | It divides by the log of the number of queries (shape[-2]); right only for square maps.
def attention_entropy(weights):
    T = weights.shape[-2]
    return torch.special.entr(weights).sum(-1) / math.log(T)

# %% [wrong] softmax_again | The weights go through a softmax first, but their rows sum to 1 already.
def attention_entropy(weights):
    p = weights.softmax(dim=-1)
    log_p = weights.log_softmax(dim=-1)
    return -(p * log_p).sum(dim=-1) / math.log(weights.shape[-1])

# %% [wrong] mean_over_keys | It takes the mean over the keys and not the sum.
def attention_entropy(weights):
    return torch.special.entr(weights).mean(-1) / math.log(weights.shape[-1])

# %% [wrong] zeros_dropped | Indexing with weights > 0 flattens the tensor, so all rows are summed into one number.
def attention_entropy(weights):
    w = weights[weights > 0]
    return -(w * w.log()).sum() / math.log(weights.shape[-1])

# %% [wrong] log_of_seen_keys | It divides by the log of the number of keys with weight above 0, where S counts all keys.
def attention_entropy(weights):
    seen = (weights > 0).sum(-1).clamp(min=2)
    return torch.special.entr(weights).sum(-1) / seen.log()

# %% [wrong] sums_over_queries | The sum runs over the queries (dim=-2) and not over the keys (dim=-1).
def attention_entropy(weights):
    return torch.special.entr(weights).sum(dim=-2) / math.log(weights.shape[-1])

# %% [wrong] axis_kept_and_focus | keepdim=True leaves an axis of length 1 behind AND 1 minus the entropy is returned, which measures focus and not width.
def attention_entropy(weights):
    h = torch.special.entr(weights).sum(-1, keepdim=True)
    return 1 - h / math.log(weights.shape[-1])

# %% [wrong] clamped_in_place | clamp_ works in place, so the zeros in the caller's weights are overwritten.
def attention_entropy(weights):
    w = weights.clamp_(min=1e-12)
    return -(w * w.log()).sum(-1) / math.log(w.shape[-1])

# %% [right] xlogy | xlogy, which is 0 where the weight is 0, and the negative sum.
def attention_entropy(weights):
    return -torch.special.xlogy(weights, weights).sum(dim=-1) / math.log(weights.shape[-1])

# %% [right] safe_log_with_where | Zeros are replaced by ones before the logarithm.
def attention_entropy(weights):
    safe = torch.where(weights > 0, weights, torch.ones_like(weights))
    total = (weights * safe.log()).sum(-1).neg()
    return total / np.log(weights.shape[-1]).item()

# %% [right] base_s | Every term is taken to the base S, so no division of the sum is needed.
def attention_entropy(weights):
    n_keys = weights.size(-1)
    terms = torch.special.entr(weights) * (1.0 / math.log(n_keys))
    return torch.einsum("...s->...", terms)
