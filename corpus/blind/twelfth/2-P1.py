# %% [wrong] zero_times_log_zero | 0 · log 0 is NaN in floating point and is not treated: every row that holds a zero becomes NaN
def attention_entropy(weights):
    entropy = -(weights * weights.log()).sum(dim=-1)
    return entropy / math.log(weights.shape[-1])


# %% [wrong] not_divided | the entropy is not divided by the largest there can be, log S: a uniform row gives log S and not 1
def attention_entropy(weights):
    return torch.special.entr(weights).sum(dim=-1)


# %% [wrong] only_keys_with_weight | divides by the log of the number of keys that have weight, not of all keys: (½, ½, 0, 0) gives 1 and not 0.5, a single key 0/0
def attention_entropy(weights):
    bits = torch.where(weights > 0, -weights * torch.log(weights.clamp(min=1e-30)), 0.0)
    seen = (weights > 0).sum(dim=-1)
    return bits.sum(dim=-1) / seen.to(weights.dtype).log()


# %% [wrong] two_bases | the logarithm above is to base 2, the one below is natural: everything is too large by 1/log 2 = 1.443
def attention_entropy(weights):
    S = weights.size(-1)
    logs = torch.log2(weights.masked_fill(weights == 0, 1.0))
    return -(weights * logs).sum(-1) / math.log(S)


# %% [wrong] log_of_the_wrong_length | len(weights) is the size of the FIRST axis (queries or batch), not the number of keys: right for one row or a square map alone
def attention_entropy(weights):
    largest = math.log(len(weights))
    return -torch.special.xlogy(weights, weights).sum(dim=-1).div(largest)


# %% [right] product_of_powers | the entropy is minus the log of the product of all w^w; 0^0 is 1, so a weight of 0 needs no special care
def attention_entropy(weights):
    surprise = weights.pow(weights).prod(dim=-1)
    return -surprise.log() / math.log(weights.shape[-1])
