# %% [wrong] mean_before_the_positive_part | The mean over the heads is taken first and negative numbers are removed afterwards. A head that speaks against the answer then cancels one that speaks for it; in the example −0.7 becomes 0 in place of 0.5.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.sum(), weights)
    return (weights * gradient).mean(-3).clamp(min=0)

# %% [wrong] mean_over_the_first_axis | The mean is taken over the first axis in place of the heads. With a batch it averages over the scenes, and the axis of the heads stays.
def gradient_attention(weights, score):
    grad = torch.autograd.grad(score.sum(), weights)[0]
    product = torch.maximum(grad * weights, torch.zeros_like(weights))
    return product.mean(dim=0)

# %% [wrong] backward_fills_every_grad | score.sum().backward() is called and weights.grad is read. That adds gradients to all parameters of the model, whose .grad the call must leave alone.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    weights.retain_grad()
    score.sum().backward(retain_graph=True)
    gradient = weights.grad
    return F.relu(weights * gradient).mean(dim=-3).detach()

# %% [wrong] gradient_without_the_weight | The positive part of the gradient alone is averaged (as in Grad-CAM). It has to be multiplied by the weight first; a patch that gets no weight can come out as important.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradients = torch.autograd.grad(score.sum(), weights, retain_graph=True)
    return gradients[0].clamp_min(0).mean(-3)

# %% [wrong] absolute_value | The absolute value of weight × gradient is taken. What speaks against the answer should become 0, and here it counts as much as what speaks for it: 1.7 in place of 0.5.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (g,) = torch.autograd.grad(outputs=score, inputs=weights, grad_outputs=torch.ones_like(score))
    H = weights.size(-3)
    return torch.einsum("...hts->...ts", (weights * g).abs()) / H

# %% [right] half_of_sum_and_absolute | The gradient comes with grad_outputs of ones, and the positive part is written as (x + |x|) / 2; heads are unbound and summed.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    gradient, *_ = torch.autograd.grad([score], [weights], grad_outputs=[torch.ones_like(score)], retain_graph=True)
    gain = weights.detach() * gradient
    speaks_for = torch.add(gain, gain.abs()).mul(0.5)
    per_head = speaks_for.unbind(-3)
    return sum(per_head) / len(per_head)
