# %% [wrong] gradient_of_the_mean_score | The gradient is taken of the mean of the scores and not of their sum, so in a batch of B all maps are B times too small.
def gradient_attention(weights: Tensor, score: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(score.mean(), weights)
    return F.relu(weights * gradient).mean(dim=-3)
