# %% [wrong] every_target_for_every_map | `weights[..., target]` does not pair map and target, it picks for EVERY map the weights on ALL targets (B × B numbers): the mean is over the wrong pairs
def pointer_loss(weights, target):
    picked = weights[..., target]
    return -torch.log(picked).mean()


# %% [wrong] softmax_once_more | F.cross_entropy takes scores and applies a softmax of its own; the weights are already the result of one, so all weight on the target does not give 0
def pointer_loss(weights, target):
    S = weights.shape[-1]
    return F.cross_entropy(weights.reshape(-1, S), target.reshape(-1))


# %% [wrong] log_of_the_mean | mean and logarithm in the wrong order: minus the log of the mean weight, not the mean of minus the logs; equal only if all weights on the targets are equal
def pointer_loss(weights, target):
    on_target = weights.gather(-1, target.unsqueeze(-1))
    return on_target.mean().log().neg()


# %% [wrong] zero_times_log_zero | all logs are taken and the others multiplied away with a one-hot: where another patch has the weight 0, 0 · log 0 is NaN, so all weight on the target gives NaN and not 0
def pointer_loss(weights, target):
    chosen = F.one_hot(target, weights.shape[-1]).to(weights.dtype)
    per_map = -(chosen * weights.log()).sum(dim=-1)
    return per_map.mean()


# %% [wrong] one_batch_axis_only | rows are counted with arange(len(target)) and paired with the targets: right for (B, S), but for more batch dimensions, or for none, the index does not fit
def pointer_loss(weights, target):
    rows = torch.arange(len(target), device=target.device)
    losses = -weights[rows, target].log()
    return losses.sum() / len(target)


# %% [right] boolean_pick | the weights on the targets are picked with a boolean one-hot mask, so nothing but them meets the logarithm
def pointer_loss(weights, target):
    patch = torch.arange(weights.shape[-1], device=weights.device)
    return weights[patch == target.unsqueeze(-1)].log().neg().mean()
