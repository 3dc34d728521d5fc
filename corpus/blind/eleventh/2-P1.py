# %% [wrong] zero_times_minus_infinity | Computes w · log w as it stands. A weight of 0 gives 0 · (-inf) = NaN, so every row with a zero in it comes out as NaN, (1, 0, 0, 0) among them, which should give 0.
def attention_entropy(weights):
    S = weights.shape[-1]
    return -(weights * torch.log(weights)).sum(dim=-1) / math.log(S)


# %% [wrong] bits_over_nats | Measures the entropy with log2 but divides by the natural logarithm of S. Every result is too large by 1/log 2 = 1.443; a uniform row gives 1.443 and not 1.
def attention_entropy(weights):
    safe = weights.clamp(min=1e-12)
    H = -(weights * safe.log2()).sum(-1)
    return H / np.log(weights.shape[-1])


# %% [wrong] logarithm_of_the_number_of_queries | Divides by the logarithm of the number of queries (axis -2) and not of keys. For a square map nothing is seen of it; for 2 words and 9 patches it is wrong, and a single row (S,) stops with an error.
def attention_entropy(weights):
    entropy = torch.special.entr(weights).sum(dim=-1)
    return entropy / math.log(weights.size(-2))


# %% [wrong] only_keys_with_weight_counted | Divides by the logarithm of the number of keys that have any weight and not of all S keys. (½, ½, 0, 0) gives 1 and not 0.5.
def attention_entropy(weights):
    entropy = torch.special.entr(weights).sum(-1)
    used = (weights > 0).sum(-1).clamp(min=2)
    return entropy / torch.log(used.to(weights.dtype))


# %% [wrong] weights_taken_for_logits | Gives the weights to Categorical as logits, where they are probabilities; it takes a softmax of them once more. A row with a single key, (1, 0, 0, 0), gives 0.91 and not 0, and even a sharp map looks nearly uniform.
def attention_entropy(weights):
    spread = torch.distributions.Categorical(logits=weights).entropy()
    return spread / math.log(weights.shape[-1])


# %% [right] distance_from_uniform | 1 minus the divergence of each row from the uniform row, with xlogy, which knows that 0 · log 0 is 0.
def attention_entropy(weights):
    count = weights.shape[-1]
    surplus = torch.xlogy(weights, weights * count).sum(-1)
    return 1 - surplus / math.log(count)
