# %% [right] xlogy | right
def attention_entropy(weights):
    return -torch.xlogy(weights, weights).sum(dim=-1).div(math.log(weights.size(-1)))

# %% [wrong] nan_for_zero | weights.log() is -inf where a weight is 0, so such rows are NaN.
def attention_entropy(weights):
    return -(weights * weights.log()).sum(-1) / math.log(weights.shape[-1])

# %% [wrong] not_divided | The entropy is not divided by log S.
def attention_entropy(weights):
    return torch.special.entr(weights).sum(-1)

# %% [wrong] divided_by_s | It divides by S instead of log S.
def attention_entropy(weights):
    return torch.special.entr(weights).sum(-1) / weights.shape[-1]

# %% [wrong] sign_missing | The minus sign is missing, so the result lies between -1 and 0.
def attention_entropy(weights):
    return torch.xlogy(weights, weights).sum(-1) / math.log(weights.shape[-1])

# %% [wrong] mean_over_keys | The mean over the keys is taken instead of the sum.
def attention_entropy(weights):
    return torch.special.entr(weights).mean(-1) / math.log(weights.shape[-1])

# %% [wrong] wrong_axis | The sum and S are taken over the queries, dim -2.
def attention_entropy(weights):
    return torch.special.entr(weights).sum(-2) / math.log(weights.shape[-2])

# %% [wrong] large_epsilon | 0.01 is added inside the logarithm against log 0, which changes every entropy.
def attention_entropy(weights):
    return -(weights * (weights + 0.01).log()).sum(-1) / math.log(weights.shape[-1])

# %% [wrong] mean_over_queries | The entropies of all queries are averaged into one number.
def attention_entropy(weights):
    return (torch.special.entr(weights).sum(-1) / math.log(weights.shape[-1])).mean()
