# %% [wrong] not_divided | The entropy is not divided by the largest there can be, log S.
def attention_entropy(weights):
    return torch.special.entr(weights).sum(dim=-1)


# %% [wrong] nan_for_zero_weights | 0 · log 0 is computed as 0 · −∞, which is NaN: every row with a zero weight is lost.
def attention_entropy(weights):
    S = weights.shape[-1]
    return -(weights * weights.log()).sum(-1) / math.log(S)


# %% [wrong] log_of_the_queries | Divides by the logarithm of the number of queries, the second axis from the end; for a map that is not square it is another number.
def attention_entropy(weights):
    h = torch.special.entr(weights).sum(-1)
    return h / math.log(weights.shape[-2])


# %% [wrong] two_bases | The upper logarithm has base 2 and the lower one base e: an even row gets 1.44 in place of 1.
def attention_entropy(weights):
    logs = torch.where(weights > 0, torch.log2(weights), torch.zeros_like(weights))
    return -(weights * logs).sum(-1) / math.log(weights.size(-1))


# %% [wrong] only_keys_with_weight | Divides by the logarithm of the number of keys that have weight, not of all: (½, ½, 0, 0) gets 1 in place of 0.5.
def attention_entropy(weights):
    used = (weights > 0).sum(-1).clamp(min=2)
    return torch.special.entr(weights).sum(-1) / used.to(weights.dtype).log()


# %% [wrong] one_number_for_the_map | The mean over the queries is taken as well: one number for each map in place of one for each query.
def attention_entropy(weights):
    entropy = torch.special.entr(weights).sum(-1) / math.log(weights.shape[-1])
    return entropy.mean(-1)


# %% [right] xlogy_base_s | Writes −w log w with `torch.xlogy`, which knows that 0 · log 0 is 0, and divides by the log of a tensor.
def attention_entropy(weights):
    largest = torch.tensor(float(weights.shape[-1]), dtype=weights.dtype, device=weights.device).log()
    return torch.xlogy(weights, weights).sum(-1).neg().div(largest)
