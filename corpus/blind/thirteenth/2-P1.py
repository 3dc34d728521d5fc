# %% [wrong] zero_log_zero | w * log(w) is 0 * (-inf) = NaN where a weight is 0; a row such as (1, 0, 0, 0) gives NaN instead of 0
def attention_entropy(weights):
    S = weights.shape[-1]
    return -(weights * weights.log()).sum(-1) / math.log(S)


# %% [wrong] bits_against_nats | the entropy is in natural logarithms, the largest possible one in log2: all values are too small by ln 2, and a uniform row gives 0.69
def attention_entropy(weights):
    entropy = torch.special.entr(weights).sum(dim=-1)
    return entropy / math.log2(weights.size(-1))


# %% [wrong] keys_with_weight_only | divides by the logarithm of the number of keys that have any weight, not of all keys S: (½, ½, 0, 0) becomes 1 instead of 0.5
def attention_entropy(weights):
    used = (weights > 0).sum(dim=-1)
    entropy = -torch.xlogy(weights, weights).sum(dim=-1)
    largest = torch.log(used.to(weights.dtype))
    return torch.where(used > 1, entropy / largest.clamp(min=1e-12), torch.zeros_like(entropy))


# %% [wrong] length_of_first_axis | len(weights) is the number of queries (or scenes), not the number of keys, so the entropy is divided by the wrong logarithm wherever the two differ
def attention_entropy(weights):
    return torch.special.entr(weights).sum(-1) / np.log(len(weights))


# %% [wrong] one_number_for_all | picks the positive weights with a bool index, which loses the rows: the result is a single number, the sum over all queries, instead of one for each
def attention_entropy(weights):
    positive = weights[weights > 0]
    entropy = -torch.sum(positive * torch.log(positive))
    return entropy / math.log(weights.shape[-1])


# %% [right] distance_from_uniform | 1 minus the Kullback-Leibler distance from the uniform row, with zeros replaced by ones before the logarithm
def attention_entropy(weights):
    S = weights.shape[-1]
    harmless = torch.where(weights > 0, weights, torch.ones_like(weights))
    negative = (weights * harmless.log()).sum(dim=-1)
    total = weights.sum(dim=-1)
    distance = negative + total * math.log(S)
    return total - distance / math.log(S)
