# %% [wrong] backward_fills_grads | calls score.backward(): the map is right, but the gradients of the score are added to the .grad of all parameters of the model, which the text forbids
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad()
    score.sum().backward(retain_graph=True)
    product = weights.detach() * weights.grad
    return product.clamp(min=0).mean(dim=-3)


# %% [wrong] mean_before_clamp | averages the products over the heads first and clamps then: heads that speak against the answer cancel those that speak for it; the example would give 0 instead of 0.5
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights, retain_graph=True)
    relevance = torch.einsum("...hts,...hts->...ts", weights, gradient) / weights.shape[-3]
    return F.relu(relevance)


# %% [wrong] mean_of_scores | takes the gradient of the mean score instead of the sum: with a batch of B scenes all maps are too small by the factor B; a single scene does not show it
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    def gradient_of(output, with_respect_to):
        return torch.autograd.grad(outputs=output, inputs=[with_respect_to], retain_graph=True)[0]

    gradient = gradient_of(score.mean(), weights)
    contributions = weights.detach() * gradient
    heads = contributions.shape[-3]
    positive = torch.where(contributions > 0, contributions, torch.zeros_like(contributions))
    return positive.sum(-3) / heads


# %% [wrong] graph_freed_in_loop | asks for the gradient of each scene in a loop without retain_graph: the first call frees the graph, so a batch of two scenes raises a RuntimeError
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    scores = score.reshape(-1)
    gradient = torch.zeros_like(weights)
    for s in scores:
        gradient = gradient + torch.autograd.grad(s, weights)[0]
    return (weights.detach() * gradient).clamp_min(0.0).mean(-3)


# %% [wrong] absolute_value | takes the absolute value instead of the positive part: what speaks against the answer counts as if it spoke for it; the example would give 1.7 instead of 0.5
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(score, weights, grad_outputs=torch.ones_like(score))[0]
    per_head = [(w * g).abs() for w, g in zip(weights.unbind(-3), gradient.unbind(-3))]
    return torch.stack(per_head).mean(0).detach()


# %% [right] grad_outputs_of_ones | vector-Jacobian product with ones instead of a sum, positive part as half of x + |x|
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (slope,) = torch.autograd.grad(score, weights, torch.ones_like(score), retain_graph=True)
    gain = weights.detach().mul(slope)
    return (gain + gain.abs()).div(2).sum(-3).div(weights.size(-3))
