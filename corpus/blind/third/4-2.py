# %% [wrong] mean_before_clamp | Averages over the heads first and cuts off the negative part afterwards: heads that speak against cancel others.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(score.sum(), weights)[0]
    return (weights * gradient).mean(dim=-3).clamp(min=0)

# %% [wrong] backward_fills_grad | Calls backward, which fills the .grad of all parameters of the model; they must be left alone.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad()
    score.sum().backward(retain_graph=True)
    return F.relu(weights * weights.grad).mean(dim=-3).detach()

# %% [wrong] mean_of_scores | Takes the gradient of the mean score: every scene's map is divided by the number of scenes.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (slope,) = torch.autograd.grad(score.mean(), weights, retain_graph=True)
    product = torch.relu(weights.detach() * slope)
    return product.mean(-3)

# %% [wrong] absolute_value | Takes the absolute value; what speaks against the answer should become 0.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient, = torch.autograd.grad(outputs=score.sum(), inputs=weights)
    return torch.einsum("...hts->...ts", (weights * gradient).abs()) / weights.shape[-3]

# %% [wrong] gradient_alone | Keeps the positive part of the gradient without multiplying it by the weight.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return gradient.clamp(min=0).mean(dim=-3)

# %% [wrong] sum_over_heads | Adds up over the heads in place of taking the mean.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    grads = torch.autograd.grad(score, weights, grad_outputs=torch.ones_like(score))
    return torch.relu(weights * grads[0]).sum(dim=-3)

# %% [right] grad_outputs_of_ones | Uses grad_outputs in place of a sum, torch.where in place of a clamp, and adds up head by head.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    slope = torch.autograd.grad(score, weights, grad_outputs=torch.ones_like(score))[0]
    with torch.no_grad():
        product = weights * slope
        positive = torch.where(product > 0, product, torch.zeros_like(product))
        heads = positive.unbind(-3)
        return sum(heads) / len(heads)
