# %% [wrong] mean_before_the_clamp | The mean over the heads is taken first, then what is negative becomes 0. Each head's product should be clamped first. A head that speaks against the answer cancels one that speaks for it.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).mean(-3).clamp(min=0).detach()

# %% [wrong] backward_fills_the_parameters | The way back is gone with backward(), and the gradient is read from weights.grad. That fills the .grad of all parameters, too, which should be left alone. The map is right, and the next training step has gradients of something else in it.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad()
    score.sum().backward()
    contribution = weights.detach() * weights.grad
    return torch.relu(contribution).mean(dim=-3)

# %% [wrong] mean_of_the_scores | The gradient is that of the mean score of the batch. It should be the sum, so that each scene has its own gradient. The maps are too small by the number of scenes.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(outputs=score.mean(), inputs=weights)[0]
    return F.relu(weights * gradient).mean(-3)

# %% [wrong] asks_a_detached_copy | The weights are detached and made a new leaf before the gradient is asked for. The score was computed from the old ones and knows nothing of the copy. It ends in an error: one of the tensors was not used in the graph.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights = weights.detach().requires_grad_(True)
    (slope,) = torch.autograd.grad(score.sum(), weights)
    return torch.clamp(weights * slope, min=0).mean(dim=-3)

# %% [wrong] mean_over_helpful_heads_only | The sum is divided by the number of heads whose product is positive. It should be divided by H. Where one head of four helps, the map is four times too large.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    grads = torch.autograd.grad(score, weights, grad_outputs=torch.ones_like(score))[0]
    product = weights * grads
    helpful = product > 0
    return torch.where(helpful, product, 0).sum(-3) / helpful.sum(-3).clamp(min=1)

# %% [wrong] size_in_place_of_sign | The absolute value of weight × gradient is taken. What speaks against the answer should become 0. It counts as if it spoke for it.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    H = weights.shape[-3]
    gradient, *_ = torch.autograd.grad(score.sum(), [weights])
    return sum((weights[..., h, :, :] * gradient[..., h, :, :]).abs() for h in range(H)) / H

# %% [right] ones_as_outputs_and_positive_part | Hands ones as grad_outputs, and writes the positive part as (x + |x|) / 2 inside an einsum over the heads.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    slope = torch.autograd.grad([score], [weights], [torch.ones_like(score)], retain_graph=True)[0]
    alpha = weights.detach()
    product = alpha * slope
    positive = (product + product.abs()) / 2
    return torch.einsum("...hts->...ts", positive) / alpha.shape[-3]
