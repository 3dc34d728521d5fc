# %% [wrong] entropy_as_a_share_of_log_S | attention_entropy divides by log S, so the bonus is too small by that factor. The bonus is strength times the entropy itself, the sum of -w log w, as in the line that was right.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    bonus = attention_entropy(weights).mean()
    return F.cross_entropy(logits, answers) - strength * bonus


# %% [wrong] logarithm_of_zero | The guard against the logarithm of 0 has been dropped: where a weight is exactly 0, 0 · log 0 is not a number, and so is the loss. Keep clamp_min, or use torch.special.entr.
def looking_loss(logits: Tensor, answers: Tensor, weights: Tensor, strength: float) -> Tensor:
    entropies = -(weights * torch.log(weights)).sum(dim=1)
    answer_loss = F.cross_entropy(logits, answers)
    return answer_loss - strength * torch.mean(entropies)
