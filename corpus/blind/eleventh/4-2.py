# %% [wrong] fills_the_grads | score.sum().backward() brings the gradient to the weights, and also adds to the .grad of every parameter of the model on its way. The numbers are right, but the call must leave .grad alone.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad()
    score.sum().backward(retain_graph=True)
    return (weights * weights.grad).clamp(min=0).mean(-3).detach()

# %% [wrong] clamped_after_the_mean | The mean over the heads is taken first and negative numbers become 0 only then. A head that speaks against the answer now takes away from the others; by hand (1 − 2.4) / 2 is negative and 0 comes out, not 0.5.
def gradient_attention(weights, score):
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).mean(dim=-3).clamp(min=0)

# %% [wrong] mean_of_the_scores | The gradient is that of score.mean(). With B scenes every number is B times too small; each scene's own score should be derived, so the sum. With one scene nothing shows.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    """Weigh each weight by what the score gains from it."""
    grad = torch.autograd.grad(outputs=score.mean(), inputs=weights)[0]
    contribution = torch.relu(weights * grad)
    return contribution.mean(dim=-3)

# %% [wrong] a_fresh_leaf | The weights are detached and given requires_grad anew, "so that they have a gradient". The score was not computed from this new tensor, so autograd stops with an error: it was not used in the graph.
def gradient_attention(weights, score):
    w = weights.detach().requires_grad_(True)
    gradient, = torch.autograd.grad(score.sum(), w)
    return F.relu(w * gradient).mean(-3)

# %% [wrong] absolute_values | The size of weight × gradient is taken, as in many saliency maps. What speaks against the answer should count as 0; here it counts as much as what speaks for it, by hand (1 + 2.4) / 2 = 1.7.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(score.sum(), weights)[0]
    saliency = (weights.detach() * gradient).abs()
    return saliency.sum(-3) / weights.shape[-3]

# %% [right] ones_as_grad_outputs | No sum of the scores: grad_outputs of ones does the same; the positive part is torch.where, and the heads are added up and divided by their number.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gain, *_ = torch.autograd.grad([score], [weights], grad_outputs=[torch.ones_like(score)])
    share = weights.detach().mul(gain)
    positive = torch.where(share > 0, share, torch.zeros_like(share))
    return torch.div(positive.sum(dim=-3), weights.size(-3))
