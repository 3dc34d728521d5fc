# %% [wrong] still_a_penalty | Only the line of the entropy was written anew; the entropy is still added, so that looking around costs.
def looking_loss(logits, answers, weights, strength):
    surprise = -weights.clamp_min(1e-12).log()
    entropy = torch.einsum("bs,bs->b", weights, surprise).mean()
    return F.cross_entropy(logits, answers) + strength * entropy


# %% [wrong] nan_at_zero | The line of the entropy was changed to w · log w, which is NaN where a weight is exactly 0.
def looking_loss(logits, answers, weights, strength):
    entropy = -(weights * torch.log(weights)).sum(dim=-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy


# %% [wrong] sign_twice | The minus before the logarithm is lost and the one before the bonus is new: two changes of sign, and the penalty is back.
def looking_loss(logits, answers, weights, strength):
    negative = (weights * weights.clamp_min(1e-12).log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * negative


# %% [wrong] entropy_of_the_mean_map | Rewards the entropy of the mean map: maps that each stare at another patch get the whole bonus. Asked for is the mean entropy of the maps.
def looking_loss(logits, answers, weights, strength):
    mean_map = weights.mean(0)
    bonus = -(mean_map * mean_map.clamp_min(1e-12).log()).sum()
    return F.cross_entropy(logits, answers) - strength * bonus


# %% [wrong] bonus_added_up | The entropies of the batch are added up and not averaged: the bonus grows with the batch.
def looking_loss(logits, answers, weights, strength):
    surprise = -weights.clamp_min(1e-12).log()
    entropy = (weights * surprise).sum()
    return F.cross_entropy(logits, answers) - strength * entropy


# %% [wrong] everything_scaled | The strength stands outside the brackets and scales the cross-entropy too: at strength 0 nothing is learned.
def looking_loss(logits, answers, weights, strength):
    entropy = -(weights * weights.clamp_min(1e-12).log()).sum(-1).mean()
    loss = F.cross_entropy(logits, answers)
    return strength * (loss - entropy)


# %% [right] gain_in_one_mean | Both parts scene by scene, the entropy with `where` and its sign the other way, and one mean at the end.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    missed = F.nll_loss(F.log_softmax(logits, dim=-1), answers, reduction="none")
    staring = torch.where(weights > 0, weights * weights.clamp_min(1e-30).log(), 0.0).sum(dim=-1)
    return (missed + strength * staring).mean()
