# %% [right] grad_of_sum_clamp_mean | autograd.grad of the sum, product clamped at 0, mean over heads, after hila-chefer/Transformer-MM-Explainability (avg_heads)
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    grad = torch.autograd.grad(score.sum(), [weights], retain_graph=True)[0].detach()
    cam = weights.detach()
    cam = grad * cam
    return cam.clamp(min=0).mean(dim=-3)


# %% [right] grad_outputs_of_ones | grad_outputs = ones_like(score), relu in place of clamp, after BIRLab/ConvDCDNN (GradCAM) and captum
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (alpha,) = torch.autograd.grad(outputs=score, inputs=weights, grad_outputs=torch.ones_like(score))
    return F.relu(alpha * weights).mean(-3)


# %% [right] maximum_with_zero_and_sum_over_heads | torch.maximum with zeros, sum over heads divided by H, after captum style attribution code
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    H = weights.shape[-3]
    gradient = torch.autograd.grad(score.sum(), weights, retain_graph=True, create_graph=False)[0]
    contribution = weights * gradient
    positive = torch.maximum(contribution, torch.zeros_like(contribution))
    return positive.sum(dim=-3).div(H).detach()


# %% [right] boolean_mask_times_product | (x > 0) * x, einsum over heads, after gradient rollout code (jacobgil/vit-explain grad_rollout: mask < 0 set to 0)
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    total = score.sum()
    grads = torch.autograd.grad(total, weights)
    fused = (weights * grads[0]).detach().clone()
    fused[fused < 0] = 0
    return torch.einsum("...hts->...ts", fused) / fused.size(-3)
