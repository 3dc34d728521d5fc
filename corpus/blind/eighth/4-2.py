# %% [wrong] backward_fills_grad | The gradient is made with retain_grad() and backward(), which fills the .grad of all parameters; it should be torch.autograd.grad. The map is right, and the model carries gradients that it should not have.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad()
    score.sum().backward()
    return (weights * weights.grad).clamp(min=0).mean(-3)

# %% [wrong] positive_part_of_the_mean | The mean over the heads is taken before the clamp; the positive part should be taken in each head. In the example the mean is −0.7, and the map 0 in place of 0.5.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).mean(dim=-3).clamp(min=0)

# %% [wrong] mean_of_the_scores | The gradient is that of score.mean(); it should be of the sum. Every map is divided by the number of scenes.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (slope,) = torch.autograd.grad(score.mean(), weights)
    return F.relu(weights * slope).mean(-3)

# %% [wrong] the_tuple_not_opened | torch.autograd.grad returns a tuple, and the product is formed with the tuple; it should be opened. A TypeError is raised.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(score.sum(), weights)
    return torch.clamp(gradient * weights, min=0).mean(-3)

# %% [wrong] gradient_alone | The positive part of the gradient is averaged, without the weights; it should be weight × gradient. A patch that nobody looks at may come first.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient = torch.autograd.grad(outputs=score.sum(), inputs=[weights])[0]
    return gradient.clamp_min(0).mean(dim=-3)

# %% [wrong] a_copy_that_the_score_does_not_know | The gradient is asked for by a detached copy of the weights; the score was computed from the weights themselves. PyTorch raises a RuntimeError: the copy was not used.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    leaf = weights.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(score.sum(), leaf)
    return (leaf * gradient).clamp(min=0).mean(-3)

# %% [right] ones_in_place_of_a_sum | The scores are not summed: ones are handed in as what comes from above, which is the same.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gained,) = torch.autograd.grad(score, weights, grad_outputs=torch.ones_like(score))
    in_favour = torch.relu(weights * gained)
    return in_favour.sum(dim=-3) / weights.shape[-3]
