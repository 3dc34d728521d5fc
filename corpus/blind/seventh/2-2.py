# %% [wrong] aligned_not_centred | Only the tokens are centred; the aligned side keeps its mean, so the readout has no intercept, and even a token and itself do not give 1 where the columns have a mean.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(0)
    A = torch.linalg.pinv(z) @ x
    rest = (x - z @ A).square().sum()
    return (1 - rest / x.square().sum()).clamp(0, 1)

# %% [wrong] mean_over_dimensions | The share is computed for each dimension and then averaged, so each counts alike; the squares must be summed over all dimensions first. The example gives 2/3 instead of 5/14.
def explained_variance(tokens, aligned):
    x, z = tokens.flatten(0, -2), aligned.flatten(0, -2)
    x, z = x - x.mean(0), z - z.mean(0)
    back = z @ (torch.linalg.pinv(z) @ x)
    rest = (x - back).square().sum(0)
    total = x.square().sum(0).clamp(min=1e-12)
    return (1 - rest / total).mean().clamp(0, 1)

# %% [wrong] each_image_for_itself | The leading axes are not pooled: mean and readout are made for every image on its own (batched pinv), and with few tokens in each the readout fits them all, near 1.
def explained_variance(tokens, aligned):
    x = tokens - tokens.mean(dim=-2, keepdim=True)
    z = aligned - aligned.mean(dim=-2, keepdim=True)
    readout = torch.linalg.pinv(z) @ x
    rest = ((x - z @ readout) ** 2).sum()
    return (1 - rest / (x**2).sum()).clamp(0, 1)

# %% [wrong] readout_the_wrong_way | The aligned tokens are predicted from the tokens, A = pinv(x) @ z, instead of the other way; a linear aligner then always gets 1, however much it throws away.
def explained_variance(tokens, aligned):
    x, z = (t.reshape(-1, t.shape[-1]) for t in (tokens, aligned))
    x, z = x - x.mean(0), z - z.mean(0)
    A = torch.linalg.pinv(x) @ z
    residual = (z - x @ A).square().sum()
    total = z.square().sum()
    if total == 0:
        return torch.zeros(())
    return (1 - residual / total).clamp(0, 1)

# %% [wrong] lengths_instead_of_squares | norm() is the root of the sum of squares, and the ratio of the roots is not squared again; the example gives 1 − √(9/14) = 0.198 instead of 0.357.
def explained_variance(tokens, aligned):
    x, z = tokens.flatten(0, -2), aligned.flatten(0, -2)
    x = x - x.mean(dim=0)
    z = z - z.mean(dim=0)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    return (1 - (x - x_hat).norm() / x.norm()).clamp(0, 1)

# %% [wrong] one_mean_for_all_columns | x.mean() and z.mean() are one number each over all columns, not the mean of each column; that is no intercept, and the total of squares is measured from the wrong point.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean()
    z = z - z.mean()
    x_hat = z @ torch.linalg.pinv(z) @ x
    ss_res = ((x - x_hat) ** 2).sum()
    ss_tot = (x**2).sum()
    return torch.clamp(1 - ss_res / ss_tot, 0, 1)

# %% [right] projection_by_svd | no readout at all: the left singular vectors of the centred aligned tokens span what can be read back, and the tokens' part in that span is measured
def explained_variance(tokens, aligned):
    x, z = (side.flatten(0, -2) for side in (tokens, aligned))
    x, z = x - x.mean(0), z - z.mean(0)
    directions, sizes, _ = torch.linalg.svd(z, full_matrices=False)
    counts = sizes > sizes.max() * max(z.shape) * torch.finfo(z.dtype).eps
    explained = (directions[:, counts].T @ x).square().sum()
    return (explained / x.square().sum()).clamp(0, 1)
