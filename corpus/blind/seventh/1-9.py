# %% [wrong] nll_without_log | F.nll_loss expects log-probabilities and only picks and negates; handed the weights themselves it gives minus the mean weight, −0.111 for an even map instead of 2.197.
def pointer_loss(weights, target):
    S = weights.shape[-1]
    return F.nll_loss(weights.reshape(-1, S), target.reshape(-1))

# %% [wrong] log_of_the_mean | The weights on the targets are averaged first and the logarithm is taken of the mean; the mean of the logarithms is asked for, which punishes a single small weight far more.
def pointer_loss(weights, target):
    hit = weights.gather(-1, target.unsqueeze(-1))
    return -torch.log(hit.mean())

# %% [wrong] every_target_for_every_map | weights[:, target] takes for each map the columns of all targets, (B, B), and not its own one; the mean runs over the wrong pairs as well.
def pointer_loss(weights, target):
    picked = weights[:, target]
    return -picked.log().mean()

# %% [wrong] a_plain_number | The loss is returned with .item(), a Python float without a graph, so loss.backward() is not possible and nothing can be trained.
def pointer_loss(weights, target):
    p = torch.gather(weights, -1, target.unsqueeze(-1)).squeeze(-1)
    loss = (-p.log()).mean()
    return loss.item()

# %% [wrong] yes_or_no_for_each_patch | Binary cross-entropy against the one-hot target also adds −log(1 − w) for the other patches and averages over all S of them; for an even map it gives 0.349 instead of 2.197.
def pointer_loss(weights, target):
    wanted = F.one_hot(target, weights.shape[-1]).to(weights.dtype)
    return F.binary_cross_entropy(weights, wanted)

# %% [wrong] first_axis_is_all | Indexing with arange(len(target)) only works for weights (B, S); a single map without a batch raises an error, and with two leading axes the second is taken for the patches.
def pointer_loss(weights, target):
    rows = torch.arange(len(target), device=target.device)
    return -weights[rows, target].log().mean()

# %% [right] taken_along_the_axis | take_along_dim picks the weight on each target, then the steps are chained
def pointer_loss(weights, target):
    on_target = torch.take_along_dim(weights, target.unsqueeze(-1), dim=-1)
    return on_target.log().neg().mean()
