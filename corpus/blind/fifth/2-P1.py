# %% [wrong] nan_for_zero | −w·log w is NaN where a weight is exactly 0 (0 · −∞); it should count as 0
def attention_entropy(weights):
    return -(weights * weights.log()).sum(-1) / math.log(weights.shape[-1])

# %% [wrong] not_divided | the entropy is not divided by log S, so four equal weights give 1.386 and not 1
def attention_entropy(weights):
    return torch.special.entr(weights).sum(dim=-1)

# %% [wrong] number_of_queries | it divides by the logarithm of shape[-2], the number of queries, in place of the number of keys S = shape[-1]; wrong for maps that are not square
def attention_entropy(weights):
    h = torch.special.entr(weights).sum(-1)
    return h / math.log(weights.shape[-2])

# %% [wrong] sign_lost | the minus is missing (xlogy is w log w), so all values lie between −1 and 0
def attention_entropy(weights):
    total = torch.xlogy(weights, weights).sum(dim=-1)
    return total / math.log(weights.shape[-1])

# %% [wrong] one_number | it sums over everything and averages over all queries: one number comes back, where each query should have its own
def attention_entropy(weights):
    rows = weights.reshape(-1, weights.shape[-1])
    entropy = 0.0
    for row in rows:
        entropy = entropy + torch.special.entr(row).sum() / math.log(len(row))
    return entropy / len(rows)

# %% [wrong] columns_summed | the entropy is summed over dim=-2, the queries, so there is a number for each key and not for each query
def attention_entropy(weights):
    pieces = torch.where(weights > 0, -weights * weights.clamp_min(1e-30).log(), torch.zeros_like(weights))
    return pieces.sum(-2) / math.log(weights.size(-1))

# %% [right] base_s_logarithm | xlogy with the scaled logarithm, summed by a dot with ones: the base of the logarithm is S
def attention_entropy(weights):
    in_base_s = torch.special.xlogy(weights, weights).div(math.log(weights.shape[-1]))
    return in_base_s.sum(dim=-1).neg()
