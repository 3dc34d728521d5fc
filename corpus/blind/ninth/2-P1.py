# %% [wrong] weights_taken_for_logits | Hands the weights to Categorical as logits, so that they go through a softmax once more. They are probabilities already: all rows look far too spread out, and a single key does not give 0.
def attention_entropy(weights):
    entropy = torch.distributions.Categorical(logits=weights).entropy()
    return entropy / math.log(weights.shape[-1])

# %% [wrong] two_kinds_of_logarithm | The entropy is in natural logarithms, the largest one in logarithms of base 2. Both must have the same base: everything is 0.693 times too small, and a uniform row gives 0.69 in place of 1.
def attention_entropy(weights):
    return torch.special.entr(weights).sum(dim=-1) / math.log2(weights.size(-1))

# %% [wrong] largest_over_used_keys | Divides by the logarithm of the number of keys that have weight. It should be all S keys: (1/2, 1/2, 0, 0) gives 1 in place of 0.5, and a single key gives 0 / 0, NaN.
def attention_entropy(weights):
    used = (weights > 0).sum(-1)
    h = -torch.xlogy(weights, weights).sum(-1)
    return h / used.to(weights.dtype).log()

# %% [wrong] positive_weights_lose_their_rows | Picks the positive weights with a bool index to avoid log 0. That gives one flat list, and the rows are gone: one number for all queries in place of one for each.
def attention_entropy(weights):
    p = weights[weights > 0]
    return -(p * p.log()).sum(-1) / math.log(weights.shape[-1])

# %% [wrong] effective_keys_over_keys | Gives exp of the entropy divided by S, the share of keys that are looked at. The entropy divided by log S is asked for: a single key gives 1/S in place of 0.
def attention_entropy(weights):
    entropy = torch.special.entr(weights).sum(-1)
    effective = torch.exp(entropy)
    return effective / weights.shape[-1]

# %% [wrong] number_of_rows_not_keys | Divides by the logarithm of the number of queries. It should be the number of keys: nothing shows on square maps, but a map of 5 words by 9 patches can have more than 1.
def attention_entropy(weights):
    plogp = torch.where(weights > 0, weights * torch.log(weights.clamp(min=1e-30)), 0.0)
    largest = math.log(weights.shape[-2]) if weights.ndim > 1 else math.log(weights.shape[0])
    return -plogp.sum(dim=-1) / largest

# %% [right] divergence_from_log_one | Borrows F.kl_div: the divergence from an input of zeros is w log w, with 0 where w is 0, so its negative sum is the entropy.
def attention_entropy(weights):
    w_log_w = F.kl_div(torch.zeros_like(weights), weights, reduction="none")
    return w_log_w.sum(-1).neg().div(math.log(weights.shape[-1]))
