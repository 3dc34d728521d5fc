# %% [right] grad_outputs_of_ones | right
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    slope = torch.autograd.grad(
        outputs=[score], inputs=[weights], grad_outputs=[torch.ones_like(score)], retain_graph=True
    )[0]
    gain = weights.detach() * slope
    return torch.where(gain > 0, gain, torch.zeros_like(gain)).mean(dim=-3)

# %% [wrong] mean_before_clamp | The mean over the heads is taken before the negative part is cut off, so heads cancel each other.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).mean(-3).clamp(min=0)

# %% [wrong] gradient_alone | Only the positive part of the gradient is averaged; the multiplication with the weights is missing.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return gradient.clamp(min=0).mean(-3)

# %% [wrong] absolute_value | The absolute value is taken instead of the positive part, so what speaks against the answer counts as well.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).abs().mean(-3)

# %% [wrong] backward_with_retain_grad | score.sum().backward() is called, which fills the .grad of all the model's parameters.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad()
    score.sum().backward()
    return (weights * weights.grad).clamp(min=0).mean(-3)

# %% [wrong] mean_of_scores | The gradient of the mean of the scores is taken, so the map is too small by the batch size.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.mean(), weights)
    return (weights * gradient).clamp(min=0).mean(-3)

# %% [wrong] summed_over_heads | The positive parts are summed over the heads and not averaged.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return torch.relu(weights * gradient).sum(dim=-3)

# %% [wrong] first_score_only | Only the first scene's score is differentiated, so the maps of all other scenes are zero.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.flatten()[0], weights)
    return (weights * gradient).clamp(min=0).mean(-3)

# %% [wrong] clamp_of_gradient_max | clamp(max=0) keeps the negative part instead of the positive one.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).clamp(max=0).mean(-3).abs()

# %% [wrong] normalised_rows | The map is divided by its row sums, though the plain mean is asked for.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    found = (weights * gradient).clamp(min=0).mean(-3)
    return found / found.sum(-1, keepdim=True).clamp(min=1e-9)
