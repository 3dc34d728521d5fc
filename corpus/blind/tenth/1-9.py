# %% [wrong] cross_entropy_of_weights | F.cross_entropy runs another softmax over weights that are shares already: with all weight on the target it gives about 1.37 for nine patches and not 0. It should be minus the log of the weight itself.
def pointer_loss(weights, target):
    S = weights.shape[-1]
    return F.cross_entropy(weights.reshape(-1, S), target.reshape(-1))

# %% [wrong] log_of_the_mean | The weights on the targets are averaged first, and the logarithm is taken of the mean. It should be the mean of the logarithms; a map that misses costs far too little. For a single map both are equal.
def pointer_loss(weights, target):
    on_target = weights.gather(-1, target.unsqueeze(-1))
    return -torch.log(on_target.mean())

# %% [wrong] all_targets_for_every_map | weights[:, target] picks for every map the columns of all targets, B × B numbers, and averages them. Each map should be read at its own target only; an answer with all weights on the targets costs infinitely much in place of 0.
def pointer_loss(weights, target):
    weights = weights.reshape(-1, weights.shape[-1])
    picked = weights[:, target.reshape(-1)]
    return -picked.log().mean()

# %% [wrong] rows_by_arange_in_a_batch_of_two_axes | The index pairs arange(len(weights)) with the targets, which works for weights (B, S). With more leading axes, (A, B, S) and (A, B), it indexes the wrong axes: it fails or picks other numbers. Any number of leading axes is asked for.
def pointer_loss(weights, target):
    rows = torch.arange(len(weights), device=weights.device)
    return -weights[rows, target].log().mean()

# %% [wrong] binary_cross_entropy | Every patch is judged as a yes-or-no question, and the mean runs over all patches: a uniform map over nine costs 0.349 in place of 2.197. Only the weight on the target should count, once for each map.
def pointer_loss(weights, target):
    truth = F.one_hot(target, weights.shape[-1]).to(weights.dtype)
    return F.binary_cross_entropy(weights, truth)

# %% [right] nll_of_the_logarithm | Hands the logarithms to F.nll_loss, flattened to one list of maps; it picks, averages and changes the sign.
def pointer_loss(weights, target):
    table = torch.log(weights).reshape(-1, weights.size(-1))
    return F.nll_loss(table, target.reshape(-1))
