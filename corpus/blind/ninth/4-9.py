# %% [wrong] log_of_zero | The entropy is taken as −w log w without care for zeros. A weight may be exactly 0, and 0 · log 0 is NaN here; it should count as 0. The whole loss becomes NaN.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = -(weights * torch.log(weights)).sum(dim=-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy

# %% [wrong] weights_given_as_logits | The entropy comes from Categorical(logits=weights). The weights are probabilities, so it should be probs=weights. They go through a second softmax, and a sharp map has nearly the entropy of an even one.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    bonus = torch.distributions.Categorical(logits=weights).entropy().mean()
    return nn.CrossEntropyLoss()(logits, answers) - strength * bonus

# %% [wrong] minus_times_minus | The entropy is written as the sum of w · log w, which is negative already, and then it is subtracted. Minus times minus adds the entropy to the loss. Looking around is punished, as in the broken training.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    safe = weights.clamp_min(1e-12)
    looking_around = torch.sum(weights * safe.log(), dim=-1)
    return F.cross_entropy(logits, answers) - strength * looking_around.mean()

# %% [wrong] mean_over_patches_too | The mean is taken over scenes and patches at once. The entropy of a map is a sum over its patches; only over the scenes the mean is taken. The bonus is too small by the number of patches.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    surprise = -weights.clamp_min(1e-12).log()
    answer_loss = F.nll_loss(logits.log_softmax(-1), answers)
    return answer_loss - strength * (weights * surprise).mean()

# %% [wrong] bonus_cut_off | The weights are detached before the entropy. The number is right, but the bonus has no gradient, and rewards nothing. The weights should stay in the graph.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    def entropy(rows):
        return -torch.xlogy(rows, rows).sum(-1)

    return F.cross_entropy(logits, answers).sub(strength * entropy(weights.detach()).mean())

# %% [wrong] entropy_of_the_mean_map | The maps are averaged over the batch, and the entropy is that of the average. It should be the mean of the maps' entropies. Maps that stare, each at another patch, get the whole bonus.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    average = weights.mean(0)
    entropy = torch.special.entr(average).sum()
    log_p = torch.log_softmax(logits, dim=-1)
    ce = -log_p[torch.arange(len(answers), device=answers.device), answers].mean()
    return ce - strength * entropy

# %% [right] one_mean_over_scenes | Cross-entropy by logsumexp, entropy as a batched dot product, and one mean over the scenes at the end.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    missed = logits.logsumexp(-1) - logits.gather(-1, answers[:, None]).squeeze(-1)
    surprise = weights.clamp(min=torch.finfo(weights.dtype).tiny).log().neg()
    entropy = torch.einsum("bs,bs->b", weights, surprise)
    return torch.mean(missed - strength * entropy)
