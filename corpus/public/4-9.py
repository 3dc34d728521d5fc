# %% [right] minus_entropy_bonus_clamped_log | loss - coefficient * entropy with a clamped log, after policy gradient code (ikostrikov/pytorch-a2c-ppo-acktr-gail entropy_coef)
def looking_loss(logits, answers, weights, strength):
    log_weights = torch.log(weights.clamp(min=1e-12))
    dist_entropy = -(weights * log_weights).sum(dim=-1).mean()
    return F.cross_entropy(logits, answers) - strength * dist_entropy


# %% [right] categorical_entropy_bonus | Categorical(probs).entropy(), after vwxyzjn/cleanrl (ppo.py)
def looking_loss(logits, answers, weights, strength):
    entropy_loss = torch.distributions.Categorical(probs=weights).entropy().mean()
    return nn.CrossEntropyLoss()(logits, answers) - strength * entropy_loss


# %% [right] xlogy_added | cross entropy plus strength times sum of w log w, by torch.xlogy, after confidence penalty code (unsure: gradients where a weight is exactly 0)
def looking_loss(logits, answers, weights, strength):
    negative_entropy = torch.xlogy(weights, weights).sum(-1)
    nll = F.nll_loss(F.log_softmax(logits, dim=-1), answers)
    return nll + strength * negative_entropy.mean()


# %% [right] eps_inside_the_log | w * log(w + 1e-8), after attention regularisers in github.com/eole-nlp/eole style entropy code
def looking_loss(logits, answers, weights, strength):
    entropy = -torch.sum(weights * torch.log(weights + 1e-8), dim=1)
    return F.cross_entropy(logits, answers, reduction="mean") - strength * entropy.mean()
