# %% [wrong] log_of_mean | The mean is taken before the logarithm: −log(mean w) instead of mean(−log w), which is smaller as soon as the weights differ
def pointer_loss(weights, target):
    picked = weights.gather(-1, target.unsqueeze(-1))
    return -picked.mean().log()

# %% [wrong] softmax_twice | F.cross_entropy takes scores and does a softmax of its own; fed with weights, a map with all weight on the target does not give 0 but 1.37 (nine patches)
def pointer_loss(weights, target):
    return F.cross_entropy(weights.reshape(-1, weights.shape[-1]), target.reshape(-1))

# %% [wrong] every_target | weights[..., target] picks for each map the patches of all targets, (B, B), so each map is also judged by the other scenes' targets
def pointer_loss(weights, target):
    on_target = weights[..., target]
    return -torch.log(on_target).mean()

# %% [wrong] zero_times_log_zero | The one-hot rows are multiplied with the logs of all weights: 0 · log 0 is NaN, so the map with all weight on the target gives NaN instead of 0
def pointer_loss(weights, target):
    hot = F.one_hot(target, weights.shape[-1]).to(weights.dtype)
    return -(hot * weights.log()).sum(-1).mean()

# %% [wrong] mean_over_patches | The mean runs over all S entries of the one-hot product, not over the maps, so the loss is too small by the factor S: log 9 / 9 for a uniform map
def pointer_loss(weights, target):
    is_target = torch.arange(weights.shape[-1], device=weights.device) == target[..., None]
    logs = torch.where(is_target, -weights.log(), torch.zeros_like(weights))
    return logs.mean()

# %% [wrong] two_axes_only | Indexing with arange(len(weights)) takes one leading axis for granted: for maps (A, B, S) with targets (A, B), or a single map (S,), it fails or picks whole rows
def pointer_loss(weights, target):
    row = torch.arange(len(weights), device=weights.device)
    return -weights[row, target].log().mean()

# %% [right] nll | flattened to a list of maps, F.nll_loss on the logarithms picks and averages
def pointer_loss(weights, target):
    maps = weights.reshape(-1, weights.shape[-1])
    return F.nll_loss(maps.log(), target.reshape(-1))
