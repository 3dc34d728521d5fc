# %% [wrong] log_of_zero | the clamp is left out, so a weight of exactly 0 gives 0 · ∞ = NaN; a weight may be exactly 0
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = -(weights * weights.log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] both_signs_turned | the entropy loses its minus and is subtracted: twice turned is as before, and even maps are punished still
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    negative = (weights * weights.clamp_min(1e-12).log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * negative

# %% [wrong] summed_entropies | the entropies of all maps are summed and not averaged, so the bonus grows with the batch
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    bonus = torch.special.entr(weights).sum()
    return F.cross_entropy(logits, answers) - strength * bonus

# %% [wrong] entropy_of_the_answers | the entropy is that of the answers' probabilities (softmax of the logits) and not of the maps; the model is rewarded for being unsure what to say
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    p = logits.softmax(-1)
    spread = torch.special.entr(p).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * spread

# %% [wrong] mean_map | the maps are averaged over the batch before the entropy, so maps that each stare at another patch count as looking around; the mean of the entropies is asked
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    average = weights.mean(0)
    return F.cross_entropy(logits, answers) - strength * torch.special.entr(average).sum()

# %% [wrong] divided_by_log_s | the entropy is divided by log S, as in attention_entropy of lesson 2; the bonus is strength × the mean entropy itself, so it is log S times too small
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = torch.special.entr(weights).sum(-1) / torch.tensor(float(weights.shape[-1])).log().to(weights.device)
    loss = F.cross_entropy(logits, answers)
    return loss - strength * entropy.mean()

# %% [right] added_negative_entropy | w log w is minus the entropy, so it is added; torch.where lets a weight of 0 count as 0, with a finite gradient
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    narrow = torch.where(weights > 0, weights * weights.clamp_min(1e-12).log(), 0.0).sum(dim=-1)
    return F.cross_entropy(logits, answers) + strength * narrow.mean()
