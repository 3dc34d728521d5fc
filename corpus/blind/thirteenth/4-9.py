# %% [wrong] nan_where_a_weight_is_zero | The entropy is −Σ w log w without care for w = 0: 0 · −∞ is NaN, and with it the loss. The text says that a weight may be exactly 0.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropy = -(weights * torch.log(weights)).sum(dim=-1).mean()
    return F.cross_entropy(logits, answers) - strength * entropy


# %% [wrong] sign_turned_twice | The entropy is computed without its minus, and then subtracted: strength × entropy is added after all, as in the broken loss.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    log_weights = weights.clamp(min=1e-12).log()
    entropy = torch.einsum("bs,bs->b", weights, log_weights).mean()
    nll = -logits.log_softmax(-1).gather(1, answers[:, None]).mean()
    return nll - strength * entropy


# %% [wrong] mean_over_all_entries | Takes the mean of w log w over both axes. The sum over the patches is missing, so the bonus is S times too small.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    bonus = torch.special.entr(weights.clamp_min(1e-12)).mean()
    return torch.sub(F.cross_entropy(logits, answers), bonus, alpha=strength)


# %% [wrong] entropy_of_the_mean_map | Computes the entropy of the batch's mean map, not the mean of the entropies. Sharp maps on different patches then earn the whole bonus without looking around.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    def entropy(p):
        return -(p * p.clamp_min(1e-12).log()).sum(-1)

    return F.cross_entropy(logits, answers) - strength * entropy(weights.mean(0))


# %% [wrong] softmax_before_cross_entropy | Hands softmax probabilities to F.cross_entropy, which applies a log-softmax itself. The cross-entropy is that of a flattened distribution and can hardly fall.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    probabilities = logits.softmax(dim=-1)
    answer_loss = F.cross_entropy(probabilities, answers)
    looking = 0.0
    for row in weights:
        kept = row[row > 0]
        looking = looking - (kept * kept.log()).sum()
    return answer_loss - strength * looking / len(weights)


# %% [right] zero_weights_masked_out | Replaces weights of 0 by 1 before the logarithm (log 1 = 0), and writes both parts as sums over the batch.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    logs = weights.masked_fill(weights <= 0, 1.0).log()
    entropies = -torch.linalg.vecdot(weights, logs)
    surprises = logits.logsumexp(-1) - logits.take_along_dim(answers.unsqueeze(-1), -1).squeeze(-1)
    return (surprises - strength * entropies).mean()
