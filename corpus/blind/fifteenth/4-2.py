# %% [wrong] mean_before_clamp | The mean over the heads is taken first and its negative part cut off then, so a head that speaks against the answer eats up another one. Cut off the negative products of each head before the mean.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).mean(dim=-3).clamp(min=0)


# %% [wrong] backward_fills_the_grads | The numbers are right, but backward() also adds to the .grad of every parameter of the model. torch.autograd.grad gives the one gradient that is needed and leaves the parameters alone.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad()
    score.sum().backward(retain_graph=True)
    product = weights.detach() * weights.grad
    return F.relu(product).mean(-3)
