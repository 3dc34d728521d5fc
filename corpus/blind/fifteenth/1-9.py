# %% [wrong] log_of_the_mean | The weights on the targets are averaged first, and the logarithm is taken of the mean. It should be minus the mean of the logarithms; the two agree only where all maps give their target the same weight.
def pointer_loss(weights, target):
    on_target = weights.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -torch.log(on_target.mean())
# %% [wrong] every_map_with_every_target | weights[:, target] picks for each map the weights on the targets of all maps, an N by N table, and the mean runs over all of it. Each map should be asked for its own target only, for example with gather.
def pointer_loss(weights, target):
    """The mean negative log weight on the target patch."""
    S = weights.shape[-1]
    weights = weights.reshape(-1, S)
    target = target.reshape(-1)
    picked = weights[:, target]
    return -picked.log().mean()
# %% [wrong] divided_by_first_axis_only | The sum over all maps is divided by the length of the first axis. With more than one leading axis there are more maps than that, and the loss is too large. Take the mean over all maps.
def pointer_loss(weights, target):
    total = 0.0
    flat_weights = weights.reshape(-1, weights.shape[-1])
    flat_target = target.reshape(-1)
    for row, t in zip(flat_weights, flat_target):
        total = total - torch.log(row[t])
    return total / (len(target) if target.dim() > 0 else 1)
