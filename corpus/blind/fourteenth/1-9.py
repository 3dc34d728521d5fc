# %% [wrong] logarithm_of_the_mean | The weights on the targets are averaged first, and the logarithm is taken of their mean; it should be the mean of the logarithms.
def pointer_loss(weights, target):
    right = torch.gather(weights, -1, target.unsqueeze(-1)).squeeze(-1)
    return -torch.log(right.mean())

# %% [wrong] divided_by_the_first_axis | The sum is divided by the length of the first axis, which is the number of maps only if there is one leading axis.
def pointer_loss(weights, target):
    total = -weights.gather(-1, target[..., None]).log().sum()
    return total / len(target)

# %% [wrong] bits_instead_of_nats | log2 is taken in place of the natural logarithm, so a uniform map over nine patches costs 3.17 and not 2.197.
def pointer_loss(weights, target):
    chosen = F.one_hot(target, weights.shape[-1]).bool()
    return weights[chosen].log2().neg().mean()
