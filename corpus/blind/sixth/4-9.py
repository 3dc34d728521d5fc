# %% [wrong] log_of_zero | The guard of the logarithm is gone: a weight of exactly 0 gives 0 · −∞ = NaN, and so does the loss
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = -(weights * weights.log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] sum_over_batch | The entropies are summed over the scenes instead of averaged, so the bonus is B times too large
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = torch.special.entr(weights).sum()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] entropy_as_share | The entropy is divided by log S, as in lesson 2's attention_entropy; the bonus is strength × the entropy itself, here 2.2 times as large
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = attention_entropy(weights).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] entropy_of_answers | The bonus rewards the entropy of the answers (softmax of the logits) instead of that of the maps: the model is rewarded for being unsure, and the weights play no part
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    p = logits.softmax(dim=-1)
    entropy = torch.special.entr(p).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] never_below_zero | The loss is clamped at 0; it may be below 0 while the bonus is large, and where it is clamped no gradient flows
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean()
    return (F.cross_entropy(logits, answers) - strength * entropy).clamp(min=0)

# %% [wrong] two_minus_signs | The minus is put before the bonus, and the sign of the entropy is lost as well (Σ w log w): both cancel, and spread-out maps are punished as before
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = torch.xlogy(weights, weights).sum(dim=-1).mean()
    bonus = strength * entropy
    return F.cross_entropy(logits, answers) - bonus

# %% [right] entr | torch.special.entr knows that 0 · log 0 is 0
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    looking_around = torch.special.entr(weights).sum(dim=-1).mean()
    return F.cross_entropy(logits, answers).sub(looking_around, alpha=strength)
