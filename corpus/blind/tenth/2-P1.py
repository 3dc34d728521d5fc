# %% [wrong] zero_times_log_zero | w · log w is computed as it stands, and a weight of 0 gives 0 · (−∞) = NaN for the whole row. 0 · log 0 should count as 0.
def attention_entropy(weights):
    h = -(weights * torch.log(weights)).sum(dim=-1)
    return h / math.log(weights.shape[-1])

# %% [wrong] bits_over_nats | The entropy is measured with log2 and divided by the natural logarithm of S: a uniform row gives 1.443 in place of 1. Both logarithms should have the same base.
def attention_entropy(weights):
    logs = torch.where(weights > 0, torch.log2(weights), torch.zeros_like(weights))
    return -(weights * logs).sum(-1) / np.log(weights.shape[-1])

# %% [wrong] keys_with_weight_count | It divides by the logarithm of the number of keys that have any weight, not by log S. (½, ½, 0, 0) gives 1 in place of 0.5.
def attention_entropy(weights):
    entropy = torch.special.entr(weights).sum(-1)
    seen = (weights > 0).sum(-1)
    largest = torch.log(seen.clamp(min=2).to(weights.dtype))
    return entropy / largest

# %% [wrong] weights_taken_for_logits | Categorical(logits=weights) puts the weights through another softmax, so a row on one key looks wide (0.91 for four keys and not 0). It should be probs=weights.
def attention_entropy(weights):
    dist = torch.distributions.Categorical(logits=weights)
    return dist.entropy() / math.log(weights.size(-1))

# %% [wrong] logarithm_of_the_number_of_queries | The entropy is divided by the logarithm of shape[-2], the number of queries. For a square map it is right; for 5 words and 9 patches a uniform row gives 1.365, and a single row without an axis of queries fails. It should be the number of keys.
def attention_entropy(weights):
    n = weights.shape[-2]
    return torch.special.entr(weights).sum(dim=-1) / math.log(n)

# %% [right] distance_from_uniform | Computes 1 minus the Kullback-Leibler divergence from the uniform row, divided by log S; xlogy knows that 0 · log 0 is 0.
def attention_entropy(weights):
    S = weights.shape[-1]
    from_uniform = torch.xlogy(weights, weights).sum(-1) + weights.sum(-1) * math.log(S)
    return weights.sum(-1) - from_uniform / math.log(S)
