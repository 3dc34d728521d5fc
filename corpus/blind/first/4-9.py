# %% [wrong] bonus_added | The entropy is still added to the loss: training makes it small, which is the opposite of a bonus.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) + strength * entropy
# %% [wrong] no_bonus | The bonus is left out.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    return F.cross_entropy(logits, answers)
# %% [wrong] double_minus | The minus of the surprise is dropped and the bonus subtracted: two signs are changed, so nothing is.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    surprise = weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy
# %% [wrong] log_of_zero | The clamp is gone, so a weight of exactly 0 gives 0 · −∞ = nan.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    entropy = -(weights * weights.log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy
# %% [wrong] summed_over_scenes | The entropies of the batch are summed, not averaged.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum()
    return F.cross_entropy(logits, answers) - strength * entropy
# %% [wrong] mean_over_patches | The entropy is averaged over the patches too, where it is a sum: it is too small by the number of patches.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).mean()
    return F.cross_entropy(logits, answers) - strength * entropy
# %% [wrong] strength_forgotten | The strength is not used: the bonus never fades.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) - entropy
# %% [wrong] all_subtracted | The whole loss is negated, and the cross-entropy with it.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean()
    return -(F.cross_entropy(logits, answers) + strength * entropy)
# %% [wrong] softmax_before_cross_entropy | cross_entropy gets probabilities: softmax is applied to the logits before it, and it applies its own.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean()
    return F.cross_entropy(logits.softmax(-1), answers) - strength * entropy
# %% [wrong] entropy_in_bits | The entropy is taken with log2, in bits, where the natural logarithm is meant.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    surprise = -weights.clamp_min(1e-12).log2()
    entropy = (weights * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy
# %% [wrong] weights_detached | The weights are detached, so the bonus has no gradient and changes nothing in the training.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    w = weights.detach()
    surprise = -w.clamp_min(1e-12).log()
    entropy = (w * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy
# %% [right] entr | Takes the entropy from torch.special.entr, and gathers the log-probabilities by hand.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    surprise = logits.logsumexp(-1) - logits.gather(-1, answers[:, None]).squeeze(-1)
    bonus = torch.special.entr(weights.clamp_min(1e-12)).sum(-1)
    return (surprise - strength * bonus).mean()
# %% [right] xlogy | Adds strength times the sum of w log w, by torch.xlogy; the two minus signs cancel.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    """Cross-entropy of the answers, less a bonus for maps that look around."""
    negative_entropy = torch.xlogy(weights, weights.clamp_min(1e-12)).sum(dim=-1)
    loss = F.nll_loss(logits.log_softmax(dim=-1), answers)
    return loss + strength * negative_entropy.mean()
