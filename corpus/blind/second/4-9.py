# %% [right] by_hand_with_xlogy | right
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    chosen = logits.log_softmax(-1)[torch.arange(len(answers), device=answers.device), answers]
    spread = -torch.special.xlogy(weights, weights.clamp_min(1e-30)).sum(dim=-1)
    return (-chosen - strength * spread).mean()

# %% [wrong] plain_log | The log is taken of the weights as they are, so a weight of exactly 0 gives NaN.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = -(weights * weights.log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] bonus_left_out | The bonus is simply dropped: the loss is the cross-entropy alone.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    return F.cross_entropy(logits, answers)

# %% [wrong] sign_changed_twice | The sign of the sum and of the entropy are both changed, so the entropy is still punished.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = (weights * weights.clamp_min(1e-12).log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] mean_over_patches | The entropy is the mean over patches too instead of the sum over patches and mean over the maps.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] divided_by_log_s | The entropy is divided by log S, which is not what was asked for.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean() / np.log(weights.shape[-1])
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] entropy_of_mean_map | The entropy of the mean map is taken instead of the mean entropy of the maps.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    mean_map = weights.mean(0)
    entropy = -(mean_map * mean_map.clamp_min(1e-12).log()).sum()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] weights_detached | The weights are detached, so the bonus changes the number of the loss and not the training.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    looked = weights.detach()
    surprise = -looked.clamp_min(1e-12).log()
    entropy = (looked * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] strength_on_both | The strength weighs the two terms against each other, (1 - strength) * cross-entropy, so the answers count for nothing at first.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean()
    return (1 - strength) * F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] clamped_at_zero | The loss is clamped at 0, so where the bonus is large there is no gradient left.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean()
    return (F.cross_entropy(logits, answers) - strength * entropy).clamp_min(0.0)
