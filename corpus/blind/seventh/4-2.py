# %% [wrong] mean_before_the_cut | The mean over the heads is taken first and the negative part is cut off afterwards, so a head that speaks against the answer cancels one that speaks for it; the example gives 0 instead of 0.5.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).mean(dim=-3).clamp(min=0)

# %% [wrong] backward_fills_the_grads | score.sum().backward() is called, which adds to the .grad of all the model's parameters; the call must leave them alone, autograd.grad does.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad()
    score.sum().backward(retain_graph=True)
    return F.relu(weights * weights.grad).mean(-3).detach()

# %% [wrong] mean_score_of_the_batch | The gradient is that of the mean score and not of the sum, so every map is divided by the number of scenes.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    grad = torch.autograd.grad(score.mean(), weights)[0]
    return (weights * grad).clamp(min=0).mean(dim=-3)

# %% [wrong] a_slice_is_not_in_the_graph | In the loop the gradient by weights[b] is asked for; that slice is a new tensor from which the score was not computed, so autograd raises an error.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    if score.ndim == 0:
        (g,) = torch.autograd.grad(score, weights)
        return (weights * g).clamp(min=0).mean(-3)
    maps = []
    for b in range(len(score)):
        (g,) = torch.autograd.grad(score[b], weights[b], retain_graph=True)
        maps.append((weights[b] * g).clamp(min=0).mean(-3))
    return torch.stack(maps)

# %% [wrong] heads_added_up | The positive parts are summed over the heads instead of averaged, so the map is too large by the factor H.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(score.sum(), weights)[0]
    products = weights * gradient
    return torch.where(products > 0, products, torch.zeros_like(products)).sum(-3)

# %% [wrong] strength_without_sign | abs() stands in place of clamp(min=0), so what speaks against the answer counts like what speaks for it; the example gives 1.7 instead of 0.5.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).abs().mean(-3)

# %% [right] ones_as_outer_gradient | hands ones to autograd.grad in place of summing the scores, and cuts with relu
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gains = torch.autograd.grad(score, weights, grad_outputs=torch.ones_like(score))[0]
    return F.relu(weights * gains).mean(dim=-3)
