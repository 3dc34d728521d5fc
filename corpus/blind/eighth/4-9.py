# %% [wrong] entropy_as_a_share | The bonus uses attention_entropy, which is divided by log S; it should be the entropy as it is. The bonus is log 9 = 2.2 times too small.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    return F.cross_entropy(logits, answers) - strength * attention_entropy(weights).mean()

# %% [wrong] entropy_of_the_mean_map | The maps are averaged over the batch, and the entropy of that mean is taken; it should be the mean of the maps' entropies. Maps that are sharp, each on another patch, get the full bonus.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    together = weights.mean(0)
    bonus = torch.special.entr(together).sum()
    return F.cross_entropy(logits, answers) - strength * bonus

# %% [wrong] a_blend_of_both | The cross-entropy is multiplied by 1 − strength; it should count in full, and the bonus be subtracted from it. At the beginning, with strength 1, the answers do not count at all.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = torch.special.entr(weights).sum(dim=-1).mean()
    return (1 - strength) * F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] entropy_of_the_answers | The bonus is the entropy of the softmax of the logits; it should be that of the maps. The model is rewarded for being unsure, and may stare as before.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    shares = logits.softmax(dim=-1)
    surprise = -logits.log_softmax(dim=-1)
    entropy = (shares * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] zero_times_infinity | The guard against log 0 is gone; a weight may be exactly 0, and 0 · log 0 is NaN. It should be entr, or clamp_min before the logarithm.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = -(weights * weights.log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] a_bonus_that_teaches_nothing | The entropy is detached before it is subtracted; it should stay in the graph. The number of the loss is right, and the maps get no gradient from the bonus.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(-1).mean().detach()
    return torch.nn.functional.cross_entropy(logits, answers) - strength * entropy

# %% [right] subtracted_with_alpha | The entropy of each map is an einsum of weights and surprises, and the bonus goes off in one torch.sub with alpha.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    wrong = F.cross_entropy(logits, answers)
    surprise = -weights.clamp_min(1e-12).log()  # finite, in the gradient too, where a weight is 0
    entropy = torch.einsum("bs,bs->b", weights, surprise).mean()
    return torch.sub(wrong, entropy, alpha=strength)
