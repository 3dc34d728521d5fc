# %% [wrong] clamped_after_the_mean | the mean over the heads is taken before the negative part is cut off, so a head that speaks against the answer is set off against one that speaks for it: the example gives 0
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (g,) = torch.autograd.grad(score.sum(), weights)
    return (weights * g).mean(-3).clamp(min=0)

# %% [wrong] absolute_products | abs() in place of the positive part: what speaks against the answer counts as for it (1.7 in the example, not 0.5)
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(score.sum(), weights)[0]
    return (weights * gradient).abs().mean(dim=-3)

# %% [wrong] gradient_alone | the positive part of the gradient is averaged without multiplying with the weights; the example gives 1 and not 0.5
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (slope,) = torch.autograd.grad(score.sum(), weights)
    return torch.relu(slope).mean(dim=-3)

# %% [wrong] fills_the_gradients | backward() on the scores fills the .grad of all the model's parameters, which the call must leave alone
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad()
    score.sum().backward(retain_graph=True)
    return (weights * weights.grad).clamp(min=0).mean(-3).detach()

# %% [wrong] summed_heads | the positive parts are summed over the heads and not averaged, so the map is H times too large
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient, = torch.autograd.grad(score.sum(), [weights])
    positive = torch.clamp(weights * gradient, min=0)
    total = 0
    for h in range(weights.shape[-3]):
        total = total + positive[..., h, :, :]
    return total

# %% [wrong] mean_score | the gradient of the mean of the scores is taken, so with a batch of B scenes every map is B times too small; the sum gives each scene its own
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.mean(), weights)
    return F.relu(weights * gradient).mean(-3)

# %% [right] grad_outputs_of_ones | the sum is left to autograd, with ones as grad_outputs, and the heads are averaged with a division at the end
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(score, weights, grad_outputs=torch.ones_like(score))[0]
    products = weights.detach() * gradient
    return torch.where(products > 0, products, 0.0).sum(dim=-3) / weights.shape[-3]
