# %% [wrong] softmax_twice | F.cross_entropy expects scores and does a softmax itself, but the weights have already been through one.
def pointer_loss(weights, target):
    return F.cross_entropy(weights.reshape(-1, weights.shape[-1]), target.reshape(-1))

# %% [wrong] log_of_mean | Takes the logarithm of the mean weight in place of the mean of the logarithms.
def pointer_loss(weights, target):
    on_target = weights.gather(-1, target.unsqueeze(-1))
    return -on_target.mean().log()

# %% [wrong] zero_times_infinity | Multiplies a one-hot with the logarithm of all weights; where another weight is 0, 0 · −∞ is NaN.
def pointer_loss(weights, target):
    hot = F.one_hot(target, weights.shape[-1]).to(weights.dtype)
    return -(hot * weights.log()).sum(-1).mean()

# %% [wrong] index_all_by_all | weights[..., target] takes all targets for every map, a (B, B) table, in place of each map's own.
def pointer_loss(weights, target):
    picked = weights[..., target]
    return -torch.log(picked).mean()

# %% [wrong] sum_not_mean | Adds up over the maps in place of taking the mean.
def pointer_loss(weights, target):
    picked = torch.take_along_dim(weights, target[..., None], dim=-1)
    return picked.log().neg().sum()

# %% [wrong] nll_on_axis_one | F.nll_loss takes axis 1 for the classes: right for (B, S), an error or nonsense with more leading axes.
def pointer_loss(weights, target):
    return F.nll_loss(weights.log(), target)

# %% [right] hot_then_log | Picks the weight with a one-hot and a sum first, and takes the logarithm of what is left.
def pointer_loss(weights, target):
    places = torch.arange(weights.shape[-1], device=weights.device)
    chosen = torch.where(places == target.unsqueeze(-1), weights, torch.zeros_like(weights)).sum(dim=-1)
    return chosen.log().mean().neg()
