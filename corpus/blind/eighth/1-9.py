# %% [wrong] every_target_for_every_map | weights[..., target] picks all targets from every map, (B, B) numbers; it should pick one per map, with gather. The loss is a mean over all pairs.
def pointer_loss(weights, target):
    hit = weights[..., target]
    return -torch.log(hit).mean()

# %% [wrong] logarithm_of_the_mean | The weights are averaged first, and the logarithm is taken of the mean; it should be the mean of the logarithms. Right for a single map, too small (Jensen) for several.
def pointer_loss(weights, target):
    on_target = weights.gather(-1, target.unsqueeze(-1))
    return -on_target.mean().log()

# %% [wrong] mean_over_the_patches_too | The one-hot product is averaged over all S patches as well; it should be summed over the patches, and averaged over the maps alone. The loss is S times too small: log 9 / 9 for a uniform map.
def pointer_loss(weights, target):
    chosen = F.one_hot(target, weights.shape[-1]).to(weights.dtype)
    surprise = -torch.log(weights.clamp_min(1e-12))
    return (chosen * surprise).mean()

# %% [wrong] classes_on_axis_one | F.nll_loss wants the classes on axis 1; that is the last axis only for (N, S). For weights (B, T, S) the shapes do not fit, or classes and words are mixed up; both should be flattened first.
def pointer_loss(weights, target):
    return F.nll_loss(weights.log(), target)

# %% [wrong] logarithm_to_base_two | The logarithm is taken to base 2; it should be the natural one. A uniform map over nine patches costs 3.17 in place of 2.197.
def pointer_loss(weights, target):
    picked = torch.take_along_dim(weights, target.unsqueeze(-1), dim=-1).squeeze(-1)
    return picked.log2().neg().mean()

# %% [wrong] a_plain_number | The loss is handed back with .item(), as a Python float; it should stay a tensor. loss.backward() in the training cell raises an AttributeError, and nothing can be learned.
def pointer_loss(weights, target):
    rows = weights.reshape(-1, weights.shape[-1])
    picked = rows[torch.arange(len(rows), device=rows.device), target.reshape(-1)]
    loss = -picked.log().mean()
    return loss.item()

# %% [right] a_mask_picks_the_targets | The weight on each target is picked with a bool one-hot mask, which takes exactly one number of each map, whatever axes stand in front.
def pointer_loss(weights, target):
    here = F.one_hot(target, num_classes=weights.shape[-1]).bool()
    return weights[here].log().mean().neg()
