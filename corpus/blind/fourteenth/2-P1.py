# %% [wrong] bits_over_nats | The entropy is taken with log2 and divided by the natural logarithm of S, so an even row has 1.44 and not 1.
def attention_entropy(weights):
    surprise = torch.where(weights > 0, -weights * torch.log2(weights.clamp_min(1e-30)), 0.0)
    return surprise.sum(-1) / math.log(weights.shape[-1])

# %% [wrong] only_keys_that_are_seen | It divides by the logarithm of the number of keys with weight and not of all keys: (½, ½, 0, 0) gets 1 instead of 0.5.
def attention_entropy(weights):
    seen = (weights > 0).sum(-1)
    entropy = torch.special.entr(weights).sum(-1)
    return entropy / seen.clamp_min(2).to(weights.dtype).log()

# %% [wrong] queries_counted_in_place_of_keys | It divides by the logarithm of the number of rows, len(weights), and not of the number of keys.
def attention_entropy(weights):
    entropy = torch.special.entr(weights).sum(dim=-1)
    return entropy / np.log(len(weights))
