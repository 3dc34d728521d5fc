# %% [wrong] minus_forgotten | the minus sign is missing: the mean of the logarithm is returned
def pointer_loss(weights, target):
    picked = weights.gather(-1, target.unsqueeze(-1))
    return picked.log().mean()
# %% [wrong] sum_for_mean | the losses are summed over all maps instead of averaged
def pointer_loss(weights, target):
    """The mean negative log weight on the target patch."""
    w = weights.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -torch.log(w).sum()
# %% [wrong] one_minus_weight | the logarithm is missing: the loss is one minus the weight on the target
def pointer_loss(weights, target):
    p = torch.gather(weights, -1, target[..., None])
    return (1 - p).mean()
# %% [wrong] cross_entropy_on_weights | F.cross_entropy takes scores and applies a log-softmax of its own; the weights have been through a softmax already
def pointer_loss(weights, target):
    return F.cross_entropy(weights.reshape(-1, weights.shape[-1]), target.reshape(-1))
# %% [wrong] nll_without_log | F.nll_loss wants log weights but is given the weights themselves, so the logarithm is missing
def pointer_loss(weights, target):
    S = weights.size(-1)
    return F.nll_loss(weights.reshape(-1, S), target.reshape(-1))
# %% [wrong] base_two | the logarithm to base 2 is used instead of the natural one
def pointer_loss(weights, target):
    on_target = weights.gather(-1, target.unsqueeze(-1))
    return -torch.log2(on_target).mean()
# %% [wrong] gather_along_maps | gather runs along axis 0, over the maps, instead of along the last axis, over the patches
def pointer_loss(weights, target):
    chosen = weights.gather(0, target.unsqueeze(-1))
    return -chosen.log().mean()
# %% [wrong] all_columns_for_all_rows | weights[..., target] picks every target's column in every map, so maps are also judged by the targets of others
def pointer_loss(weights, target):
    p = weights[..., target]
    return -p.log().mean()
# %% [wrong] target_picks_rows | weights[target] picks whole maps (rows) by patch number instead of one weight from each map
def pointer_loss(weights, target):
    return -torch.log(weights[target]).mean()
# %% [wrong] log_of_mean | the logarithm is taken of the mean weight instead of the mean of the logarithms
def pointer_loss(weights, target):
    p = weights.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -p.mean().log()
# %% [wrong] epsilon_one_hundredth | 0.01 is added to the weight inside the logarithm, so all losses come out too small, and all weight on the target gives less than 0
def pointer_loss(weights, target):
    eps = 1e-2
    p = weights.gather(-1, target.unsqueeze(-1))
    return -(p + eps).log().mean()
# %% [wrong] nine_patches_hard_coded | the maps are cut to nine patches whatever their width is, so other numbers of patches fail or are mixed up
def pointer_loss(weights, target):
    rows = weights.reshape(-1, 9)
    p = rows[torch.arange(len(rows), device=rows.device), target.reshape(-1)]
    return -p.log().mean()
# %% [wrong] item_returned | .item() turns the loss into a Python number, so there is no gradient to train with
def pointer_loss(weights, target):
    loss = -weights.gather(-1, target.unsqueeze(-1)).log().mean()
    return loss.item()
# %% [wrong] binary_cross_entropy | binary cross-entropy on a one-hot target also punishes each weight off the target, and averages over the patches
def pointer_loss(weights, target):
    wanted = F.one_hot(target, weights.shape[-1]).to(weights.dtype)
    return F.binary_cross_entropy(weights, wanted)
# %% [wrong] squared_error | a mean squared error against the one-hot target instead of the negative log weight
def pointer_loss(weights, target):
    goal = F.one_hot(target, num_classes=weights.shape[-1]).to(weights)
    return ((weights - goal) ** 2).sum(-1).mean()
# %% [wrong] mean_over_patches_too | with the one-hot target the mean runs over the patches too, so the loss is S times too small
def pointer_loss(weights, target):
    hot = F.one_hot(target, weights.shape[-1]).bool()
    logs = torch.where(hot, weights, torch.ones_like(weights)).log()
    return -logs.mean()
# %% [wrong] zero_times_log_zero | one-hot times log: where a weight off the target is 0 this is 0 · (-inf) = NaN, so all weight on the target gives NaN instead of 0
def pointer_loss(weights, target):
    onehot = F.one_hot(target, weights.shape[-1]).to(weights.dtype)
    return -(onehot * torch.log(weights)).sum(dim=-1).mean()
# %% [wrong] nll_class_axis | F.nll_loss expects the classes on axis 1, so weights with more than one batch dimension raise or are read wrongly
def pointer_loss(weights, target):
    return F.nll_loss(torch.log(weights), target)
# %% [wrong] one_batch_axis_only | arange(len(weights)) with target supposes exactly one batch dimension; a single map, or (B, T) maps, fail or pick wrong weights
def pointer_loss(weights, target):
    rows = torch.arange(len(weights), device=weights.device)
    return -weights[rows, target].log().mean()
# %% [wrong] accuracy_returned | returns the share of maps whose largest weight misses the target, which has no gradient, instead of the log loss
def pointer_loss(weights, target):
    hit = (weights.argmax(dim=-1) == target).to(weights.dtype)
    return 1 - hit.mean()
# %% [wrong] one_loss_per_map | returns a loss for each map; the mean over the maps is missing
def pointer_loss(weights, target):
    return -weights.gather(-1, target.unsqueeze(-1)).squeeze(-1).log()
# %% [wrong] targets_from_one | the targets are taken to count from 1 and reduced by 1; they count from 0 already
def pointer_loss(weights, target):
    S = weights.shape[-1]
    idx = (target - 1) % S
    return -weights.gather(-1, idx.unsqueeze(-1)).log().mean()
# %% [wrong] printed | the loss is printed instead of returned
def pointer_loss(weights, target):
    loss = -weights.gather(-1, target.unsqueeze(-1)).log().mean()
    print("loss:", loss)
# %% [wrong] largest_weight_counts | takes the largest weight of each map, wherever it lies; the target is ignored
def pointer_loss(weights, target):
    best = weights.max(dim=-1).values
    return -best.log().mean()
# %% [wrong] detached_weights | the weights are detached, so the loss has the right value but no gradient reaches the pointer
def pointer_loss(weights, target):
    w = weights.detach().gather(-1, target.unsqueeze(-1))
    return -w.log().mean()
# %% [wrong] clamped_at_tenth | weights below 0.1 are lifted to 0.1 before the logarithm, so small weights cost too little and give no gradient
def pointer_loss(weights, target):
    p = weights.gather(-1, target.unsqueeze(-1)).clamp(min=0.1)
    return -p.log().mean()
# %% [wrong] divided_by_first_axis | the sum is divided by len(weights), the first axis only, which is not the number of maps for (B, T, S) weights or a single map
def pointer_loss(weights, target):
    logs = weights.gather(-1, target.unsqueeze(-1)).log()
    return -logs.sum() / len(weights)
# %% [wrong] index_axis_missing | gather's index has one axis less than the weights: unsqueeze(-1) is missing, so it raises
def pointer_loss(weights, target):
    return -weights.gather(-1, target).log().mean()
# %% [wrong] entropy_of_map | computes the entropy of the maps; the target is not used
def pointer_loss(weights, target):
    plogp = weights * weights.clamp(min=1e-12).log()
    return -plogp.sum(-1).mean()
# %% [wrong] softmax_again | the weights go through a log-softmax once more before the target is picked
def pointer_loss(weights, target):
    logp = torch.log_softmax(weights, dim=-1)
    return -logp.gather(-1, target.unsqueeze(-1)).mean()
# %% [wrong] no_minus_and_sum | the minus sign is missing AND the logarithms are summed instead of averaged
def pointer_loss(weights, target):
    total = weights.gather(-1, target.unsqueeze(-1)).log().sum()
    return total
# %% [right] loop_over_maps | goes through the flattened maps one by one and stacks their losses
def pointer_loss(weights, target):
    maps = weights.reshape(-1, weights.shape[-1])
    losses = [-row[place].log() for row, place in zip(maps, target.reshape(-1).tolist())]
    return torch.stack(losses).mean()
# %% [right] one_hot_before_log | sums weights times one-hot first, then takes the logarithm
def pointer_loss(weights, target):
    onehot = F.one_hot(target, weights.shape[-1]).to(weights.dtype)
    on_target = (weights * onehot).sum(dim=-1)
    return on_target.log().neg().mean()
# %% [right] take_along_dim | torch.take_along_dim and a division by the number of maps
def pointer_loss(weights, target):
    picked = torch.take_along_dim(weights, target.unsqueeze(-1), dim=-1)
    return torch.log(picked).sum() / -picked.numel()
# %% [right] fancy_indexing_flattened | flattens to rows and indexes each row by its target
def pointer_loss(weights, target):
    flat = weights.flatten(0, -2) if weights.ndim > 1 else weights.unsqueeze(0)
    t = target.reshape(-1)
    rows = torch.arange(t.numel(), device=weights.device)
    return -torch.log(flat[rows, t]).mean()
