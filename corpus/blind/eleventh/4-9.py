# %% [wrong] two_minus_signs | The entropy is written without its minus, Σ w log w, and then subtracted. The two signs cancel into what broke the training: a loss that grows with the entropy.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = (weights * weights.clamp_min(1e-12).log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] entropy_as_a_share | The entropy is that of attention_entropy, divided by log S so that it lies between 0 and 1. The text has the plain entropy, log 9 for an even map over nine patches; the bonus is too small.
def looking_loss(logits, answers, weights, strength):
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1) / np.log(weights.shape[-1])
    return F.cross_entropy(logits, answers) - strength * entropy.mean()

# %% [wrong] log_of_zero | The clamp in front of the logarithm is gone. Where a weight is exactly 0 the product is 0 · (−∞), which is NaN, and so is the loss.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    entropy = -(weights * weights.log()).sum(dim=-1)
    bonus = strength * entropy.mean()
    return F.cross_entropy(logits, answers) - bonus

# %% [wrong] never_below_zero | The loss is kept from falling below 0. The text says that it may be below 0, since a bonus is subtracted; here the number is wrong, and at 0 there is no gradient any more.
def looking_loss(logits, answers, weights, strength):
    surprise = -weights.clamp_min(1e-12).log()  # in place of −log 0
    entropy = (weights * surprise).sum(-1).mean()
    loss = F.cross_entropy(logits, answers) - strength * entropy
    return loss.clamp(min=0.0)

# %% [wrong] mean_over_the_patches_too | The mean is taken over all B × S numbers, so each map's entropy is the mean over the patches in place of the sum. The bonus is S times too small.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    w = weights.clamp_min(1e-12)
    entropy = -torch.mean(weights * torch.log(w))
    return torch.nn.functional.cross_entropy(logits, answers) - strength * entropy

# %% [right] by_logsumexp_and_einsum | The cross-entropy is logsumexp minus the right logit, and zeros are replaced by ones before the logarithm, so that they add nothing and their gradient is finite.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    right = logits.gather(1, answers.unsqueeze(1)).squeeze(1)
    cost = logits.logsumexp(dim=1) - right
    logs = torch.where(weights > 0, weights, torch.ones_like(weights)).log()
    negative_entropy = torch.einsum("bs,bs->b", weights, logs)
    return cost.mean() + strength * negative_entropy.mean()
