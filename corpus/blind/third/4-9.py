# %% [wrong] still_a_penalty | The entropy is added in place of subtracted: large entropy is still punished.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = torch.special.entr(weights).sum(dim=-1).mean()
    return F.cross_entropy(logits, answers) + strength * entropy

# %% [wrong] nan_for_zero_weights | Computes w · log w as it stands: a weight of exactly 0 gives NaN.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = -(weights * torch.log(weights)).sum(-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] entropy_of_the_mean_map | Averages the maps of the batch first: its entropy is large as soon as different questions stare at different patches.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    average = weights.mean(dim=0)
    bonus = torch.special.entr(average).sum()
    return F.cross_entropy(logits, answers) - strength * bonus

# %% [wrong] bonus_without_gradient | Detaches the weights: the number is right, but the bonus teaches the maps nothing.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    w = weights.detach().clamp_min(1e-12)
    bonus = strength * -(w * w.log()).sum(-1).mean()
    return F.cross_entropy(logits, answers) - bonus

# %% [wrong] mean_over_patches | Takes the mean over the patches too, so the entropy is S times too small.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = torch.special.entr(weights).mean()
    own = logits.log_softmax(-1).gather(1, answers[:, None])
    return -own.mean() - strength * entropy

# %% [wrong] sign_flipped_twice | Subtracts Σ w log w, which is negative already, and so adds the entropy again.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    neg_entropy = torch.xlogy(weights, weights).sum(dim=1).mean()
    return F.cross_entropy(logits, answers) - strength * neg_entropy

# %% [right] per_question_terms | Writes the loss of each question, minus its own entropy, and takes one mean in the end.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    each = F.cross_entropy(logits, answers, reduction="none")
    safe = torch.where(weights > 0, weights, torch.ones_like(weights))
    spread = -(weights * safe.log()).sum(-1)
    return (each - strength * spread).mean()
