# %% [wrong] softmax_twice | F.cross_entropy takes scores and does another softmax, but the weights have been through one already; all weight on the target gives not 0 but log(1 + 8/e) = 1.37 for nine patches
def pointer_loss(weights, target):
    S = weights.shape[-1]
    return F.cross_entropy(weights.reshape(-1, S), target.reshape(-1))

# %% [wrong] log_of_the_mean | the mean is taken before the logarithm; it should be the mean of the logarithms, which is larger (Jensen) unless all weights are equal
def pointer_loss(weights, target):
    on_target = weights.gather(-1, target.unsqueeze(-1))
    return -on_target.mean().log()

# %% [wrong] every_pair | weights[:, target] picks all targets from every map, (B, B) numbers, instead of each map's own one; the mean runs over strangers' patches too
def pointer_loss(weights, target):
    picked = weights[:, target]
    return -torch.log(picked).mean()

# %% [wrong] summed | the losses of all maps are summed and not averaged, so the result grows with the batch: two uniform maps give 4.39 and not 2.197
def pointer_loss(weights, target):
    total = 0
    for w, t in zip(weights.reshape(-1, weights.shape[-1]), target.reshape(-1)):
        total = total - torch.log(w[t])
    return total

# %% [wrong] bits | log2 in place of the natural logarithm: a uniform map over nine patches gives 3.17 and not 2.197
def pointer_loss(weights, target):
    p = torch.take_along_dim(weights, target.unsqueeze(-1), dim=-1)
    return p.log2().neg().mean()

# %% [wrong] all_entries_averaged | the one-hot product is averaged over all S entries of each map, so the result is too small by the factor S (0.244 for a uniform map over nine)
def pointer_loss(weights, target):
    S = weights.shape[-1]
    truth = F.one_hot(target, S).to(weights.dtype)
    loss = -truth * torch.log(weights.clamp_min(1e-12))
    return loss.mean()

# %% [right] nll_of_flat_logs | F.nll_loss on the flattened logarithms, which does the picking, the sign and the mean
def pointer_loss(weights, target):
    logs = weights.log().flatten(end_dim=-2) if weights.ndim > 1 else weights.log().unsqueeze(0)
    return F.nll_loss(logs, target.reshape(-1))
