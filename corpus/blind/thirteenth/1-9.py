# %% [wrong] softmax_again | F.cross_entropy does a log-softmax of its own, but the weights have been through a softmax already: for all weight on the target the loss is 1.37 (nine patches), not 0
def pointer_loss(weights, target):
    S = weights.shape[-1]
    return F.cross_entropy(weights.reshape(-1, S), target.reshape(-1))


# %% [wrong] all_targets_for_all | weights[..., target] picks every target's column for every map, so it averages over the targets of the other maps too
def pointer_loss(weights, target):
    on_target = weights[..., target]
    return -on_target.log().mean()


# %% [wrong] zero_times_log_zero | multiplies a one-hot target with the logarithm of ALL weights: where another weight is 0, 0 * (-inf) is NaN, so a map with all its weight on the target gives NaN, not 0
def pointer_loss(weights, target):
    one_hot = torch.nn.functional.one_hot(target, num_classes=weights.size(-1)).to(weights)
    per_map = -(one_hot * torch.log(weights)).sum(dim=-1)
    return torch.mean(per_map)


# %% [wrong] log_of_the_mean | takes the mean of the weights first and the logarithm afterwards: minus the log of a mean is not the mean of minus logs
def pointer_loss(weights, target):
    rows = weights.reshape(-1, weights.shape[-1])
    picked = [row[index] for row, index in zip(rows, target.reshape(-1))]
    return -torch.log(torch.stack(picked).mean())


# %% [wrong] by_the_first_axis | adds all logarithms up and divides by len(weights), which is the first axis alone: with more leading axes the loss is too large by their product, and a single map is divided by S
def pointer_loss(weights, target):
    picked = torch.gather(weights, -1, target[..., None])[..., 0]
    total = 0.0 - torch.log(picked).sum()
    return total / len(weights)


# %% [right] one_long_table | flattens to one table of maps and picks by row number and column number
def pointer_loss(weights, target):
    columns = target.flatten()
    table = weights.reshape(columns.numel(), -1)
    rows = torch.arange(columns.numel(), device=table.device)
    return torch.log(table[rows, columns]).neg().mean()
