# %% [wrong] not_normalised | The division by log S is missing: a uniform row gives log S and not 1.
def attention_entropy(weights):
    return torch.special.entr(weights).sum(dim=-1)

# %% [wrong] nan_at_zero | 0 · log 0 is computed as it stands and gives NaN.
def attention_entropy(weights):
    surprise = -torch.log(weights)
    return (weights * surprise).sum(-1) / math.log(weights.shape[-1])

# %% [wrong] log_of_query_count | Divides by the log of the number of queries, axis −2, in place of the number of keys.
def attention_entropy(weights):
    rows, _ = weights.shape[-2:]
    return torch.special.entr(weights).sum(-1) / math.log(rows)

# %% [wrong] two_logarithms | Mixes logarithms: the entropy is in nats (entr), the largest one in bits (log2).
def attention_entropy(weights):
    return torch.special.entr(weights).sum(-1) / math.log2(weights.size(-1))

# %% [wrong] sign_missing | The minus sign is missing, so the result lies between −1 and 0.
def attention_entropy(weights):
    total = torch.xlogy(weights, weights).sum(dim=-1)
    return total / math.log(weights.shape[-1])

# %% [wrong] mean_over_keys | Takes the mean over the keys in place of the sum, so a uniform row gives 1/S.
def attention_entropy(weights):
    safe = torch.where(weights > 0, weights, torch.ones_like(weights))
    return -(weights * safe.log()).mean(-1) / math.log(weights.shape[-1])

# %% [right] distance_from_uniform | 1 minus the divergence from a uniform row, divided by log S; xlogy treats the zeros.
def attention_entropy(weights):
    S = weights.shape[-1]
    divergence = torch.xlogy(weights, weights * S).sum(-1)
    return weights.sum(-1) - divergence / math.log(S)
