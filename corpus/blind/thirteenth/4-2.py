# %% [wrong] mean_before_clamp | Takes the mean over the heads first and clamps afterwards. A head that speaks against the answer then cancels another that speaks for it: the example gives 0 instead of 0.5.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).mean(dim=-3).clamp(min=0)


# %% [wrong] backward_into_grad | Uses score.sum().backward() with retain_grad. The map is right, but every parameter of the model gets a .grad, which the text forbids.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad() if not weights.is_leaf else None
    score.sum().backward(retain_graph=True)
    product = weights.detach() * weights.grad
    return F.relu(product).mean(-3)


# %% [wrong] gradient_of_the_mean | Differentiates score.mean() instead of the sum: with a batch of B scenes every map is smaller by the factor B.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    def positive(x):
        return torch.where(x > 0, x, torch.zeros_like(x))

    grads = torch.autograd.grad(outputs=score.mean(), inputs=[weights])
    return torch.stack([positive(w * g) for w, g in zip(weights.unbind(-3), grads[0].unbind(-3))]).mean(0)


# %% [wrong] heads_summed | Adds the heads up instead of averaging them: the factor 1/H is missing, the example gives 1.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(score, weights, grad_outputs=torch.ones_like(score))[0]
    return torch.einsum("...hts,...hts->...ts", weights.detach(), gradient.clamp(min=0))


# %% [wrong] absolute_product | Uses the absolute value of weight × gradient instead of its positive part: what speaks against the answer counts as if it spoke for it.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    total = score.sum()
    gradient, = torch.autograd.grad(total, weights, retain_graph=True)
    importance = torch.abs(gradient * weights)
    H = weights.shape[-3]
    result = importance.select(-3, 0)
    for h in range(1, H):
        result = result + importance.select(-3, h)
    return result / H


# %% [right] vector_jacobian | Hands the ones in as grad_outputs (no sum), and writes the positive part as (x + |x|) / 2.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    found = torch.autograd.grad([score], [weights], grad_outputs=[torch.ones_like(score)], retain_graph=True)
    product = weights.detach() * found[0]
    return ((product + product.abs()) / 2).sum(-3) / weights.shape[-3]
