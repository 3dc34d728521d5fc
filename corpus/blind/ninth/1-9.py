# %% [wrong] zero_times_log_of_zero | Multiplies the logarithm of all weights with a one-hot target. Where another weight is 0 that is 0 times minus infinity, NaN: for all weight on the target, where 0 is expected, the loss is NaN.
def pointer_loss(weights, target):
    chosen = F.one_hot(target, weights.shape[-1]).to(weights.dtype)
    return -(chosen * torch.log(weights)).sum(dim=-1).mean()

# %% [wrong] one_hot_as_wide_as_it_likes | Calls F.one_hot without the number of classes. It then has as many columns as the largest target plus one: if nobody asks for the last patch, the shapes do not fit, and there is an error.
def pointer_loss(weights, target):
    picked = (weights * F.one_hot(target)).sum(-1)
    return picked.log().neg().mean()

# %% [wrong] take_counts_through_all_maps | torch.take counts through the flattened weights, so each target is read from the first map. It should pick from each map of its own: right for one map only.
def pointer_loss(weights, target):
    at_target = torch.take(weights, target)
    return -torch.mean(torch.log(at_target))

# %% [wrong] cross_entropy_softmaxes_again | F.cross_entropy expects scores and makes its own softmax. The weights have been through one: the loss is too flat, and all weight on the target gives 1.37 with nine patches, in place of 0.
def pointer_loss(weights, target):
    size = weights.shape[-1]
    return F.cross_entropy(weights.reshape(-1, size), target.reshape(-1))

# %% [wrong] divides_by_the_first_axis | Sums, and divides by len(weights). That is the number of maps only if there is one axis in front: for (B, T, S) the loss is T times too large.
def pointer_loss(weights, target):
    log_p = weights.gather(-1, target[..., None]).squeeze(-1).log()
    return -log_p.sum() / len(weights)

# %% [wrong] logarithm_of_the_mean | Takes the mean of the weights on the targets first and then the logarithm. The mean of the logarithms is asked for: a single map that misses badly hardly counts.
def pointer_loss(weights, target):
    hit = weights.gather(dim=-1, index=target.unsqueeze(-1))
    return hit.mean().log().neg()

# %% [right] where_the_number_is_the_target | No gather: compares the numbers of the patches with the target, keeps the weight where they agree, sums, and takes the logarithm last.
def pointer_loss(weights, target):
    number = torch.arange(weights.shape[-1], device=weights.device)
    on_target = torch.where(number == target[..., None], weights, torch.zeros_like(weights)).sum(dim=-1)
    return (1 / on_target).log().mean()
