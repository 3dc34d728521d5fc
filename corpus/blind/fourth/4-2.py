# %% [wrong] mean_before_the_clamp | Takes the mean over the heads first and cuts off afterwards: what speaks against the answer in one head takes from another.
def gradient_attention(weights, score):
    (grad,) = torch.autograd.grad(score.sum(), weights, retain_graph=True)
    return (weights * grad).mean(dim=-3).clamp(min=0)


# %% [wrong] fills_the_gradients | Calls `backward`, which fills `.grad` of the model's parameters; the call must leave them alone.
def gradient_attention(weights, score):
    weights.retain_grad()
    score.sum().backward(retain_graph=True)
    product = (weights * weights.grad).clamp(min=0)
    return product.mean(-3).detach()


# %% [wrong] mean_of_the_scores | Takes the gradient of the mean score in place of the sum: all maps are divided by the size of the batch.
def gradient_attention(weights, score):
    gradient = torch.autograd.grad(score.mean(), weights)[0]
    return (weights * gradient).clamp(min=0).mean(-3)


# %% [wrong] size_of_the_product | Takes the absolute value and not the positive part: what speaks against the answer counts as if it spoke for it.
def gradient_attention(weights, score):
    g, = torch.autograd.grad(score.sum(), weights)
    return (weights.detach() * g).abs().mean(dim=-3)


# %% [wrong] gradient_alone | The positive gradient without the weight: attention is not in it.
def gradient_attention(weights, score):
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    positive = torch.relu(gradient)
    return positive.mean(-3)


# %% [wrong] heads_added | Adds the heads up in place of taking their mean.
def gradient_attention(weights, score):
    gradient = torch.autograd.grad(outputs=score, inputs=weights, grad_outputs=torch.ones_like(score))[0]
    contribution = (gradient * weights).clamp_min(0)
    return contribution.sum(dim=-3)


# %% [right] ones_as_grad_outputs | Does not sum the scores: hands ones to `grad_outputs`, and writes the mean as an einsum over the positive products.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    slope = torch.autograd.grad([score], [weights], grad_outputs=[torch.ones_like(score)])[0]
    speaks_for = F.relu(weights.detach() * slope)
    return torch.einsum("...hts->...ts", speaks_for) / weights.shape[-3]
