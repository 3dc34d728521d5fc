# %% [wrong] no_intercept | neither side is centred before the fit, so the readout has no intercept; where the tokens' mean is not 0, the plane through zero leaves a larger rest, and the result is too small
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    rest = ((x - x_hat) ** 2).sum()
    total = ((x - x.mean(0)) ** 2).sum()
    return (1 - rest / total).clamp(0, 1)

# %% [wrong] mean_of_r2 | the share is taken for each pixel and then averaged; the squares should be summed over all dimensions first (the example gives 2/3 and not 5/14)
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x, z = x - x.mean(0), z - z.mean(0)
    back = z @ (torch.linalg.pinv(z) @ x)
    per_dim = 1 - (x - back).square().sum(0) / x.square().sum(0).clamp_min(1e-12)
    return per_dim.mean().clamp(0, 1)

# %% [wrong] spread_ratio | it divides the variance of the aligned tokens by that of the tokens; that is the tempting shortcut: ten times the aligner changes it, though nothing new is known
def explained_variance(tokens, aligned):
    x, z = tokens.flatten(0, -2), aligned.flatten(0, -2)
    kept = (z - z.mean(0)).pow(2).sum()
    there = (x - x.mean(0)).pow(2).sum()
    return torch.clamp(kept / there, 0, 1)

# %% [wrong] wrong_direction | the readout predicts the aligned tokens from the tokens (pinv of x), which a linear aligner always allows: the result is 1 however much is lost
def explained_variance(tokens, aligned):
    x, z = tokens.flatten(0, -2), aligned.flatten(0, -2)
    x, z = x - x.mean(0, keepdim=True), z - z.mean(0, keepdim=True)
    A = torch.linalg.pinv(x) @ z
    guess = x @ A
    return (1 - (z - guess).square().sum() / z.square().sum().clamp_min(1e-12)).clamp(0.0, 1.0)

# %% [wrong] one_mean_for_all | x.mean() is one number for all columns, not the mean of each column; centring with it leaves the readout without the intercepts that it needs, and the total too large
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.size(-1))
    z = aligned.reshape(-1, aligned.size(-1))
    x = x - x.mean()
    z = z - z.mean()
    residual = x - z @ (torch.linalg.pinv(z) @ x)
    return (1 - residual.pow(2).sum() / x.pow(2).sum()).clamp(0, 1)

# %% [wrong] unexplained_share | it returns residual over total, the share that is lost, without 1 minus: 0 for a token and itself, 1 for a constant
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(dim=0)
    z = z - z.mean(dim=0)
    x_hat = z @ torch.linalg.pinv(z) @ x
    lost = (x - x_hat).norm() ** 2 / x.norm() ** 2
    return lost.clamp(min=0, max=1)

# %% [right] projection_on_singular_vectors | the readout is a projection on the column space: left singular vectors of the centred aligned side with non-negligible singular values, in float64
def explained_variance(tokens, aligned):
    x, z = (side.reshape(-1, side.shape[-1]).double() for side in (tokens, aligned))
    x, z = x - x.mean(0), z - z.mean(0)
    left, size, _ = torch.linalg.svd(z, full_matrices=False)
    seen = left[:, size > max(z.shape) * 1.2e-7 * size.max().clamp(min=1e-6)]
    return ((seen.T @ x).square().sum() / x.square().sum()).clamp(0, 1)
