# %% [right] gather_log_mean | gather with unsqueezed target, log, mean, after pointer network repositories (shirgur/PointerNet)
def pointer_loss(weights, target):
    picked = torch.gather(weights, -1, target.unsqueeze(-1)).squeeze(-1)
    return -torch.log(picked).mean()


# %% [right] nll_loss_of_the_log | F.nll_loss on log weights after flattening, after ast0414/pointer-networks-pytorch (F.nll_loss(log_pointer_scores.view(-1, ...)))
def pointer_loss(weights, target):
    log_scores = weights.reshape(-1, weights.shape[-1]).log()
    return F.nll_loss(log_scores, target.reshape(-1))


# %% [right] log_with_1e_12_inside | a guard of 1e-12 inside the logarithm, after abisee style pointer-generator code (atulkum/pointer_summarizer)
def pointer_loss(weights, target):
    gold_probs = torch.gather(weights, weights.dim() - 1, target.unsqueeze(-1)).squeeze(-1)
    step_loss = -torch.log(gold_probs + 1e-12)
    return torch.mean(step_loss)


# %% [right] one_hot_times_guarded_log | one-hot targets times the log of clamped weights, summed, after mixup and label smoothing code
def pointer_loss(weights, target):
    one_hot = F.one_hot(target, weights.size(-1)).to(weights.dtype)
    log_probs = torch.log(weights.clamp(min=1e-12))
    return -(one_hot * log_probs).sum(dim=-1).mean()


# %% [right] fancy_index_rows | p[torch.arange(N), target].log().mean(), after karpathy/makemore lectures
def pointer_loss(weights, target):
    probs = weights.reshape(-1, weights.shape[-1])
    ys = target.reshape(-1)
    return -probs[torch.arange(len(ys), device=probs.device), ys].log().mean()


# %% [right] take_along_dim | torch.take_along_dim, the numpy habit, after numpy ports of pointer networks
def pointer_loss(weights, target):
    chosen = torch.take_along_dim(weights, target[..., None], dim=-1)
    return chosen.log().neg().mean()


# %% [right] cross_entropy_of_log_probabilities | F.cross_entropy fed with log weights, whose log-softmax they are already, after forum answers on probabilities and CrossEntropyLoss (unsure: gradients where a weight is exactly 0)
def pointer_loss(weights, target):
    logits = torch.log(weights)
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1))


# %% [right] sum_over_count | sum of the losses divided by their number, boolean comparison picks the weight, after masked loss code in fairseq
def pointer_loss(weights, target):
    here = torch.arange(weights.shape[-1], device=weights.device) == target.unsqueeze(-1)
    prob = (weights * here).sum(-1)
    return -prob.log().sum() / target.numel()
