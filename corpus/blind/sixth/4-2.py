# %% [wrong] mean_then_clamp | The mean over the heads comes before the clamp, so heads that speak against the answer cancel others: (1 − 2.4) / 2 < 0 gives 0 instead of 0.5
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (g,) = torch.autograd.grad(score.sum(), weights)
    return (weights * g).mean(-3).clamp(min=0).detach()

# %% [wrong] absolute | The absolute value is taken instead of the positive part: what speaks against the answer counts as if it spoke for it, 1.7 instead of 0.5
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    grad = torch.autograd.grad(score.sum(), weights)[0]
    return (weights.detach() * grad).abs().mean(dim=-3)

# %% [wrong] gradient_alone | The gradient is not multiplied by the weight: a key with weight 0 may get a large number, and the example gives 1 instead of 0.5
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    grad, = torch.autograd.grad(score.sum(), weights)
    return torch.relu(grad).mean(dim=-3)

# %% [wrong] backward | score.sum().backward() fills the .grad of all parameters of the model, which the call must leave alone; torch.autograd.grad does not
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad()
    score.sum().backward(retain_graph=True)
    cam = weights.detach() * weights.grad
    return cam.clamp(min=0).mean(dim=-3)

# %% [wrong] heads_summed | The positive parts are summed over the heads instead of averaged: H times too large
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(score.sum(), weights)[0]
    return F.relu(weights * gradient).sum(dim=-3).detach()

# %% [wrong] score_not_summed | torch.autograd.grad is called on score itself; for a batch it is no scalar, and PyTorch raises "grad can be implicitly created only for scalar outputs"
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score, weights)
    return torch.clamp(weights * gradient, min=0).mean(-3)

# %% [right] grad_outputs | ones as grad_outputs in place of the sum, relu in place of clamp
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(score, weights, grad_outputs=torch.ones_like(score), retain_graph=True)[0]
    return F.relu(weights.detach() * gradient).mean(dim=-3)
