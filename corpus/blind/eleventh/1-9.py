# %% [wrong] cross_entropy_of_weights | Gives the weights to F.cross_entropy, which takes a softmax of them once more. A perfect map over nine patches costs 1.37 and not 0; only a uniform map comes out right.
def pointer_loss(weights, target):
    n = weights.shape[-1]
    return F.cross_entropy(weights.reshape(-1, n), target.reshape(-1))


# %% [wrong] logarithm_of_the_mean | Takes the mean of the target weights first and the logarithm afterwards. For a single map it is right; for several the result is too small, since the logarithm of a mean is not the mean of logarithms.
def pointer_loss(weights, target):
    on_target = weights.gather(-1, target.unsqueeze(-1))
    return -on_target.mean().log()


# %% [wrong] only_one_leading_axis | Picks with weights[arange(B), target]. That is right for maps (B, S) only: a single map (S,) or maps (B, T, S) stop with an error or pick the wrong numbers.
def pointer_loss(weights, target):
    rows = torch.arange(weights.shape[0], device=weights.device)
    picked = weights[rows, target]
    return -torch.log(picked).mean()


# %% [wrong] nll_loss_without_logarithm | F.nll_loss expects logarithms and gets the weights. The loss is minus the mean weight on the target: -1/9 for a uniform map and not 2.197, -1 for a perfect one and not 0.
def pointer_loss(weights, target):
    flat = weights.flatten(0, -2) if weights.dim() > 1 else weights.unsqueeze(0)
    return F.nll_loss(flat, target.flatten())


# %% [wrong] a_number_without_a_way_back | Returns a Python number (.item()). The value is right, but no gradient leads back through it: the training cell cannot call backward(), and the pointer cannot be trained.
def pointer_loss(weights, target):
    chosen = torch.take_along_dim(weights, target.unsqueeze(-1), dim=-1)
    loss = -chosen.log().mean()
    return loss.item()


# %% [right] selected_by_one_hot | Selects the target weights with a bool one-hot map instead of gather, and sums by hand.
def pointer_loss(weights, target):
    here = F.one_hot(target, num_classes=weights.size(-1)).bool()
    surprises = weights[here].log().neg()
    return surprises.sum() / surprises.numel()
