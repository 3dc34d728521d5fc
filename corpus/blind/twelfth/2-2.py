# %% [wrong] no_intercept | the aligned tokens are not centred and have no column of ones: the readout has no intercept, and a constant shift of the aligned tokens changes the result
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(0)
    guess = z @ (torch.linalg.pinv(z) @ x)
    lost = (x - guess).square().sum()
    return (1 - lost / x.square().sum()).clamp(0, 1)


# %% [wrong] mean_over_columns | a share is computed for each dimension and these are averaged: the text sums the squares over all dimensions first and then divides, so large dimensions must count more (1, 4, 9 gives 2/3 and not 5/14)
def explained_variance(tokens, aligned):
    x, z = tokens.flatten(0, -2), aligned.flatten(0, -2)
    x, z = x - x.mean(dim=0), z - z.mean(dim=0)
    residual = x - z @ torch.linalg.pinv(z) @ x
    share = 1 - residual.pow(2).sum(dim=0) / x.pow(2).sum(dim=0).clamp(min=1e-12)
    return share.mean().clamp(0.0, 1.0)


# %% [wrong] readout_the_wrong_way | the regression predicts the aligned tokens from the tokens and measures what is explained of THOSE: any linear aligner gets 1, however much it throws away
def explained_variance(tokens, aligned):
    def pooled(t):
        t = t.reshape(-1, t.shape[-1])
        return t - t.mean(0, keepdim=True)

    x, z = pooled(tokens), pooled(aligned)
    A = torch.linalg.pinv(x) @ z
    total = (z**2).sum()
    if total == 0:
        return 0.0
    return torch.clamp(1 - ((z - x @ A) ** 2).sum() / total, 0, 1)


# %% [wrong] not_pooled | the leading dimensions are not flattened: with a batch, pinv and mean work on each scene alone, every scene gets a readout of its own, and far too much counts as explained
def explained_variance(tokens, aligned):
    x = tokens - tokens.mean(dim=-2, keepdim=True)
    z = aligned - aligned.mean(dim=-2, keepdim=True)
    A = torch.linalg.pinv(z) @ x
    back = z @ A
    return (1 - (x - back).square().sum() / x.square().sum()).clamp(min=0, max=1)


# %% [wrong] total_without_mean | the readout is right (with a column of ones), but the total is the sum of squares of the raw tokens and not of their distances from the mean: a constant aligner gets more than 0
def explained_variance(tokens, aligned):
    x = tokens.flatten(end_dim=-2)
    z = aligned.flatten(end_dim=-2)
    z = torch.cat([z, z.new_ones(len(z), 1)], dim=1)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    error = ((x - x_hat) ** 2).sum()
    return float((1 - error / (x**2).sum()).clamp(0, 1))


# %% [right] length_of_the_projection | no readout is solved for: an orthonormal basis of the centred aligned columns comes from an SVD, and the share is the squared length of the tokens in it
def explained_variance(tokens, aligned):
    x, z = (side.detach().double().reshape(-1, side.shape[-1]) for side in (tokens, aligned))
    x, z = x - x.mean(0), z - z.mean(0)
    basis, sizes, _ = torch.linalg.svd(z, full_matrices=False)
    basis = basis[:, sizes > sizes.max() * max(z.shape) * torch.finfo(z.dtype).eps]
    share = torch.linalg.matrix_norm(basis.T @ x) ** 2 / torch.linalg.matrix_norm(x) ** 2
    return min(1.0, max(0.0, share.item()))
