# %% [wrong] zero_log_zero | w · log w is NaN where w is 0 (0 · −∞), so a row with a zero weight gives NaN instead of its entropy
def attention_entropy(weights):
    return -(weights * weights.log()).sum(-1) / math.log(weights.shape[-1])

# %% [wrong] not_divided | The division by log S is missing: an even row over four keys gives 1.386 instead of 1
def attention_entropy(weights):
    return torch.special.entr(weights).sum(dim=-1)

# %% [wrong] sign_lost | xlogy gives +w log w and the minus is missing, so the entropy is −1…0 instead of 0…1
def attention_entropy(weights):
    return torch.xlogy(weights, weights).sum(-1) / np.log(weights.shape[-1])

# %% [wrong] log_of_queries | It divides by the log of weights.shape[-2], the number of queries, instead of the number of keys S: wrong for maps that are not square
def attention_entropy(weights):
    n = weights.shape[-2]
    return torch.special.entr(weights).sum(-1) / math.log(n)

# %% [wrong] seen_keys_only | It divides by the log of the number of keys with weight > 0 instead of log S: (½, ½, 0, 0) gives 1 in place of 0.5
def attention_entropy(weights):
    used = (weights > 0).sum(-1).clamp(min=2).to(weights.dtype)
    return torch.special.entr(weights).sum(-1) / used.log()

# %% [wrong] mean_of_all | The entropies are averaged over all queries to a single number; one number for each query is asked for, (...)
def attention_entropy(weights):
    h = torch.special.entr(weights).sum(-1) / math.log(weights.size(-1))
    return h.mean()

# %% [right] xlogy | xlogy counts 0 · log 0 as 0
def attention_entropy(weights):
    return -torch.xlogy(weights, weights).sum(dim=-1) / math.log(weights.shape[-1])
