# %% [wrong] logarithm_of_the_keys_in_use | The entropy is divided by the logarithm of the number of keys with weight; it should be log S, all keys. (½, ½, 0, 0) gives 1 in place of 0.5, and a row on a single key 0 / 0.
def attention_entropy(weights):
    entropy = torch.special.entr(weights).sum(-1)
    in_use = (weights > 0).sum(-1)
    return entropy / torch.log(in_use.to(weights.dtype))

# %% [wrong] nan_mended_too_late | 0 · log 0 is NaN, and nan_to_num comes after the sum; it should mend each product. A row with a single zero gets entropy 0, whatever else it holds.
def attention_entropy(weights):
    products = weights * weights.log()
    total = torch.nan_to_num(products.sum(dim=-1), nan=0.0)
    return -total / math.log(weights.shape[-1])

# %% [wrong] number_of_queries | The entropy is divided by the logarithm of weights.shape[-2], the number of queries; it should be that of the keys, shape[-1]. Right for square maps alone, an IndexError for a single row.
def attention_entropy(weights):
    largest = math.log(weights.shape[-2])
    return torch.special.entr(weights).sum(-1) / largest

# %% [wrong] two_bases | The entropy is in bits (log2), what it is divided by in nats (math.log); both should have the same base. All values are 1.44 times too large, and a uniform row has 1.44.
def attention_entropy(weights):
    bits = torch.where(weights > 0, -weights * torch.log2(weights), torch.zeros_like(weights))
    return bits.sum(-1) / math.log(weights.shape[-1])

# %% [wrong] mean_over_the_keys | The terms are averaged over the keys; they should be summed. All values are S times too small: a uniform row over four keys has 0.25.
def attention_entropy(weights):
    S = weights.shape[-1]
    return torch.special.entr(weights).mean(-1) / math.log(S)

# %% [wrong] sign_lost | The minus sign of −Σ w log w is missing; all values are negative, and a uniform row has −1.
def attention_entropy(weights):
    surprise = torch.xlogy(weights, weights)  # 0 where the weight is 0
    return surprise.sum(dim=-1) / math.log(weights.size(-1))

# %% [right] xlogy | torch.xlogy counts 0 · log 0 as 0 by itself; the sign and the largest possible entropy go into one divisor.
def attention_entropy(weights):
    return torch.xlogy(weights, weights).sum(dim=-1) / -math.log(weights.shape[-1])
