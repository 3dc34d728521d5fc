# %% [wrong] log_of_zero | The entropy is −Σ w · log w without anything in place of log 0. A weight may be exactly 0: then 0 · −∞ is NaN, and so is the loss.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = -(weights * weights.log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] mean_over_patches_too | The entropy is averaged over the patches as well as the scenes, .mean() in place of .sum(-1).mean(). The bonus is S times too small.
def looking_loss(logits, answers, weights, strength):
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] weights_detached_for_the_bonus | The entropy is computed on weights.detach(), as one does for what is only measured. The number is right, but no gradient of the bonus reaches the maps, so it rewards nothing.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    w = weights.detach().clamp_min(1e-12)
    bonus = -(w * w.log()).sum(dim=1).mean()
    return F.cross_entropy(logits, answers) - strength * bonus

# %% [wrong] sign_changed_twice | The minus before the log was taken away and the plus became a minus: the two changes cancel, and a large entropy still makes the loss larger.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    log_weights = weights.clamp_min(1e-12).log()
    entropy = torch.einsum("bs,bs->b", weights, log_weights).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] mixed_in_place_of_subtracted | Strength is used as a mixing share: (1 − strength) times the cross-entropy less strength times the entropy. The cross-entropy counts fully, whatever the strength.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    task = F.cross_entropy(logits, answers)
    surprise = weights.clamp_min(1e-12).log().neg()
    entropy = (weights * surprise).sum(-1).mean()
    return (1 - strength) * task - strength * entropy

# %% [right] torch_add_with_alpha_and_nll | The cross-entropy comes from log_softmax and nll_loss, the entropy from soft-target terms added with alpha, one scene after the other.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    error = F.nll_loss(logits.log_softmax(dim=1), answers)
    tiny = torch.full_like(weights, 1e-12)
    looked_around = -torch.stack([row @ torch.maximum(row, low).log() for row, low in zip(weights, tiny)])
    return torch.sub(error, looked_around.mean(), alpha=strength)
