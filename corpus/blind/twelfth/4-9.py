# %% [wrong] log_of_zero | the sign is mended, but clamp_min is dropped: a weight of exactly 0 gives 0 * -inf = NaN, and the whole loss is NaN
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = -(weights * torch.log(weights)).sum(dim=-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy


# %% [wrong] nan_behind_where | torch.where hides the NaN of 0 * log 0 in the value only: on the way back the hidden branch multiplies 0 by -inf, so the gradient of a map with an exact 0 is NaN and the training is lost
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    def entropy(p):
        terms = torch.where(p > 0, -p * p.log(), torch.zeros_like(p))
        return terms.sum(-1)

    loss = F.cross_entropy(logits, answers)
    return loss - strength * entropy(weights).mean()


# %% [wrong] entropy_of_the_mean_map | rewards the entropy of the map averaged over the batch, not the mean entropy of the maps: sharp maps on different patches get the full bonus, so nothing keeps a single map from settling
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    average = weights.mean(0)
    surprise = -average.clamp_min(1e-12).log()
    bonus = torch.dot(average, surprise)
    picked = logits.log_softmax(-1).gather(1, answers.unsqueeze(1))
    return -picked.mean() - strength * bonus


# %% [wrong] never_below_zero | cuts the loss off at 0 because a loss "cannot be negative": with a large bonus it is 0 and its gradient too, though the text says that it may be below 0
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    surprise = -weights.clamp_min(1e-12).log()
    entropy = torch.einsum("bs,bs->b", weights, surprise).mean()
    loss = F.cross_entropy(logits, answers).sub(strength * entropy)
    return torch.clamp(loss, min=0.0)


# %% [wrong] mean_over_patches | takes the mean over patches where an entropy is a sum: the bonus is too small by the number of patches, log 9 becomes log 9 / 9
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    p = weights.clamp(min=1e-12)
    bonus = (weights * p.log()).neg().mean()
    return F.nll_loss(F.log_softmax(logits, dim=1), answers) - strength * bonus


# %% [right] negative_entropy_added | adds strength times the sum of p log p over the batch divided by B; the cross-entropy from logsumexp
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    rows = torch.arange(len(answers), device=logits.device)
    missed = logits.logsumexp(-1) - logits[rows, answers]
    order = (weights * weights.clamp_min(1e-12).log()).sum(-1)  # minus the entropy of each map
    return (missed + strength * order).mean()
