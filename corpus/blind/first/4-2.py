# %% [wrong] no_clamp | What speaks against the answer is kept: the negative products are not set to 0.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).mean(dim=-3)
# %% [wrong] clamp_after_the_mean | The mean over the heads is taken first and clamped after, so a head that speaks against cancels others.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).mean(dim=-3).clamp(min=0)
# %% [wrong] clamped_gradient_mean | The clamp and the mean are fine but the weights are missing: only the gradient is averaged.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return gradient.clamp(min=0).mean(dim=-3)
# %% [wrong] absolute_value | The absolute value is taken, so what speaks against the answer counts in favour.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    grad = torch.autograd.grad(score.sum(), weights)[0]
    return (weights * grad).abs().mean(dim=-3)
# %% [wrong] backward_fills_grad | score.backward() is used, which also fills the .grad of the model's parameters.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    weights.retain_grad()
    score.sum().backward()
    return (weights * weights.grad).clamp(min=0).mean(dim=-3)
# %% [wrong] no_sum | The score of a batch is not summed, and autograd.grad only takes a single number.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    (gradient,) = torch.autograd.grad(score, weights)
    return torch.clamp(weights * gradient, min=0).mean(dim=-3)
# %% [wrong] tuple_not_unpacked | autograd.grad returns a tuple, and the tuple itself is multiplied.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    gradient = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).clamp(min=0).mean(dim=-3)
# %% [wrong] mean_score | The mean over the scenes is differentiated, so every gradient is too small by the size of the batch.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    (gradient,) = torch.autograd.grad(score.mean(), weights)
    return (weights * gradient).clamp(min=0).mean(dim=-3)
# %% [wrong] sum_over_heads | The heads are summed, and the factor 1/H is left out.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return F.relu(weights * gradient).sum(dim=-3)
# %% [wrong] detached_too_early | The weights are detached before the gradient is asked for, so PyTorch does not know the way back.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    weights = weights.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).clamp(min=0).mean(dim=-3)
# %% [right] vector_jacobian | Hands grad_outputs of ones to autograd.grad in place of a sum, and uses torch.where in place of a clamp.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    grads = torch.autograd.grad([score], [weights], grad_outputs=[torch.ones_like(score)], retain_graph=True)
    gain = weights.detach() * grads[0]
    gain = torch.where(gain > 0, gain, torch.zeros_like(gain))
    return torch.mean(gain, -3)
# %% [right] head_by_head | Loops over the heads with unbind and adds up their positive parts.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    gradient = torch.autograd.grad(score.sum(), weights, retain_graph=True)[0]
    heads = weights.shape[-3]
    total = 0
    for alpha, slope in zip(weights.unbind(-3), gradient.unbind(-3)):
        total = total + torch.maximum(alpha * slope, torch.zeros_like(alpha))
    return total / heads
