# %% [wrong] weights_taken_for_logits | The weights are handed to Categorical as logits, so a softmax is taken of them once more and every row looks nearly uniform; it should be probs=weights.
def attention_entropy(weights):
    rows = torch.distributions.Categorical(logits=weights)
    return rows.entropy() / math.log(weights.shape[-1])

# %% [wrong] two_kinds_of_logarithm | The entropy is taken with log2 and divided by the natural logarithm of S, so all results are 1.44 times too large; a uniform row gives 1.44.
def attention_entropy(weights):
    safe = torch.where(weights > 0, weights, torch.ones_like(weights))  # log 1 = 0
    bits = -(weights * torch.log2(safe)).sum(-1)
    return bits / math.log(weights.shape[-1])

# %% [wrong] divided_by_log_of_the_queries | The largest entropy is log S, the logarithm of the number of keys, but shape[-2] is the number of queries; only right for square maps, and an error for a single row.
def attention_entropy(weights):
    H = torch.special.entr(weights).sum(dim=-1)
    return H / math.log(weights.shape[-2])

# %% [wrong] one_number_for_the_map | The boolean index flattens the map, and the sum runs over everything; the result is a single number for all queries and not one for each.
def attention_entropy(weights):
    p = weights[weights > 0]
    return -(p * p.log()).sum() / math.log(weights.shape[-1])

# %% [wrong] only_keys_with_weight_count | The entropy is divided by the logarithm of the number of keys that have weight, not of all S keys; (½, ½, 0, 0) gives 1 instead of 0.5, and a single key gives 0/0.
def attention_entropy(weights):
    entropy = torch.special.entr(weights).sum(-1)
    seen = (weights > 0).sum(-1)
    return entropy / seen.to(weights.dtype).log()

# %% [wrong] number_of_keys_in_use | The exponential of the entropy, divided by S, is the share of keys in use (perplexity); a single key gives 1/S and not 0.
def attention_entropy(weights):
    entropy = torch.special.entr(weights).sum(-1)
    effective = entropy.exp()  # effective number of keys
    return effective / weights.shape[-1]

# %% [right] xlogy | torch.xlogy counts 0 · log 0 as 0; the sign and the scale come last
def attention_entropy(weights):
    return -torch.xlogy(weights, weights).sum(dim=-1) / math.log(weights.shape[-1])
