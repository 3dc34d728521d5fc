# %% [wrong] entropy_of_the_mean_map | The maps are averaged over the batch, and the entropy is that of the mean map; it is large even where each map stares at a patch of its own. The mean of the entropies is asked for.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    mean_map = weights.mean(0)
    entropy = -(mean_map * mean_map.clamp_min(1e-12).log()).sum()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] mean_over_the_patches_too | .mean() runs over scenes and patches, so the entropy is divided by S as well and the bonus is nine times too small; it should be .sum(-1).mean().
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = (-weights * weights.clamp_min(1e-12).log()).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] bonus_without_gradient | The weights are detached for the bonus; the number of the loss is right, but the bonus has no gradient, and nothing makes the maps look around.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    maps = weights.detach()
    surprise = -maps.clamp_min(1e-12).log()
    entropy = (maps * surprise).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] cross_entropy_fades_in | The cross-entropy is multiplied by 1 − strength, so at the beginning, with strength 1, nothing but the bonus counts; it should stand there whole.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum(dim=-1).mean()
    return (1 - strength) * F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] entropy_of_the_answers | The entropy is that of the answers' probabilities (softmax of the logits) and not of the maps, so the model is rewarded for unsure answers, and the weights are not used at all.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    p = logits.softmax(-1)
    entropy = -(p * p.clamp_min(1e-12).log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] zero_times_infinity | The logarithm is not guarded; where a weight is exactly 0 it is −∞, 0 · −∞ is NaN, and so is the loss. The task says that a weight may be 0.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = -(weights * torch.log(weights)).sum(dim=-1)
    bonus = strength * entropy.mean()
    return F.cross_entropy(logits, answers) - bonus

# %% [right] bonus_as_a_dot_product | negative entropy as one einsum of weights and guarded logarithms, added with its sign
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    logarithms = weights.clamp_min(torch.finfo(weights.dtype).tiny).log()
    certainty = torch.einsum("bs,bs->b", weights, logarithms).mean()  # minus the entropy
    return F.cross_entropy(logits, answers).add(certainty, alpha=strength)
