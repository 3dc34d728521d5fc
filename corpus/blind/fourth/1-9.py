# %% [wrong] log_of_the_mean | Takes the mean first and the logarithm of it afterwards; asked for is the mean of the logarithms.
def pointer_loss(weights, target):
    hit = weights.gather(-1, target.unsqueeze(-1))
    return -torch.log(hit.mean())


# %% [wrong] cross_entropy_of_shares | `F.cross_entropy` does a softmax itself; the weights are shares already and get a second one.
def pointer_loss(weights, target):
    S = weights.shape[-1]
    return F.cross_entropy(weights.reshape(-1, S), target.reshape(-1))


# %% [wrong] every_map_every_target | `weights[:, target]` picks every target from every map, (B, B) numbers, and the mean goes over all of them.
def pointer_loss(weights, target):
    on_target = weights[:, target]
    return -on_target.log().mean()


# %% [wrong] sum_over_maps | Adds the losses up in place of taking their mean: it grows with the batch.
def pointer_loss(weights, target):
    picked = torch.gather(weights, -1, target[..., None]).squeeze(-1)
    return -(picked.log().sum())


# %% [wrong] nll_with_more_axes | `F.nll_loss` takes axis 1 for the classes: right for (B, S), and wrong or an error where more axes, or none, stand in front.
def pointer_loss(weights, target):
    return F.nll_loss(weights.log(), target)


# %% [wrong] base_two | The logarithm has base 2: a uniform map over nine patches gives 3.170 in place of 2.197.
def pointer_loss(weights, target):
    prob = weights.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return torch.mean(-torch.log2(prob))


# %% [right] one_hot_choice | Chooses with a one-hot mask in place of `gather`.
def pointer_loss(weights, target):
    chosen = F.one_hot(target, weights.shape[-1]).bool()
    return weights[chosen].log().neg().mean()
