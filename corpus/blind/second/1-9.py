# %% [right] nll_loss | right
def pointer_loss(weights, target):
    S = weights.shape[-1]
    return F.nll_loss(weights.log().reshape(-1, S), target.reshape(-1))

# %% [wrong] cross_entropy_on_weights | F.cross_entropy is given weights, so a second softmax is applied to them.
def pointer_loss(weights, target):
    return F.cross_entropy(weights.reshape(-1, weights.shape[-1]), target.reshape(-1))

# %% [wrong] sign_missing | The minus sign is missing.
def pointer_loss(weights, target):
    picked = weights.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return picked.log().mean()

# %% [wrong] log_of_mean | The logarithm is taken of the mean weight instead of the mean of the logarithms.
def pointer_loss(weights, target):
    picked = weights.gather(-1, target.unsqueeze(-1))
    return -picked.mean().log()

# %% [wrong] summed | The losses of all maps are summed instead of averaged.
def pointer_loss(weights, target):
    picked = weights.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -picked.log().sum()

# %% [wrong] all_pairs | weights[..., target] picks every target in every map, not each map's own.
def pointer_loss(weights, target):
    return -weights[..., target].log().mean()

# %% [wrong] no_mean | One loss for each map is returned instead of the mean.
def pointer_loss(weights, target):
    return -weights.gather(-1, target.unsqueeze(-1)).squeeze(-1).log()

# %% [wrong] one_minus_weight | The loss is 1 minus the weight instead of minus its logarithm.
def pointer_loss(weights, target):
    picked = weights.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return (1 - picked).mean()

# %% [wrong] log_base_two | The logarithm is taken to the base 2.
def pointer_loss(weights, target):
    picked = weights.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -picked.log2().mean()

# %% [wrong] mean_over_patches | A one-hot sum is replaced by a mean over all patches, so the loss is too small by the number of patches.
def pointer_loss(weights, target):
    right = F.one_hot(target, weights.shape[-1])
    return -(right * weights.clamp_min(1e-12).log()).mean()

# %% [wrong] largest_weight | The largest weight is used instead of the one on the target.
def pointer_loss(weights, target):
    return -weights.amax(-1).log().mean()

# %% [wrong] large_epsilon | 0.1 is added inside the logarithm, so the loss is not that of the weight.
def pointer_loss(weights, target):
    picked = weights.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -(picked + 0.1).log().mean()
