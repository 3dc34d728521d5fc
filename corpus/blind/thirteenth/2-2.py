# %% [wrong] mean_of_ratios | computes the explained share of each dimension by itself and averages the shares, instead of summing the squares over all dimensions first: 2/3 instead of 5/14 in the example
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(0)
    z = z - z.mean(0)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    shares = 1 - ((x - x_hat) ** 2).sum(0) / (x**2).sum(0).clamp(min=1e-12)
    return shares.mean().clamp(0, 1)


# %% [wrong] centred_per_scene | subtracts the mean of each sequence (axis -2) before pooling, so each scene has an intercept of its own: with more than one leading axis the means of the scenes do not count
def explained_variance(tokens, aligned):
    def centred(side):
        side = side - side.mean(dim=-2, keepdim=True)
        return side.flatten(0, -2)

    x, z = centred(tokens), centred(aligned)
    A = torch.linalg.pinv(z) @ x
    lost = (x - z @ A).square().sum()
    return (1 - lost / x.square().sum()).clamp(0.0, 1.0)


# %% [wrong] inverse_of_gram | solves the normal equations with torch.linalg.inv: where columns of aligned repeat one another or are constant the Gram matrix is singular, and inv raises or returns rubbish
def explained_variance(tokens, aligned):
    X = tokens.flatten(0, -2) - tokens.flatten(0, -2).mean(0)
    Z = aligned.flatten(0, -2) - aligned.flatten(0, -2).mean(0)
    A = torch.linalg.inv(Z.T @ Z) @ Z.T @ X
    residual = X - Z @ A
    return torch.clamp(1 - (residual * residual).sum() / (X * X).sum(), 0, 1)


# %% [wrong] sides_exchanged | reads the aligned tokens out of the tokens instead of the tokens out of the aligned ones: for any linear aligner that gives 1, whatever is lost
def explained_variance(tokens, aligned):
    source = tokens.reshape(-1, tokens.size(-1))
    goal = aligned.reshape(-1, aligned.size(-1))
    source, goal = source - source.mean(dim=0), goal - goal.mean(dim=0)
    readout = torch.linalg.pinv(source) @ goal
    errors = torch.linalg.norm(goal - source @ readout) ** 2
    total = torch.linalg.norm(goal) ** 2
    if total == 0:
        return torch.zeros(())
    return (1 - errors / total).clamp(min=0, max=1)


# %% [wrong] total_around_zero | the residual is compared with the sum of squares of the tokens themselves, not around their mean: the mean counts as explained, and a constant aligned gives more than 0 where the tokens have a mean
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    with_ones = torch.cat([z, torch.ones_like(z[:, :1])], dim=1)  # the last column is the intercept
    fitted = with_ones @ (torch.linalg.pinv(with_ones) @ x)
    share = 1 - ((x - fitted) ** 2).sum() / (x**2).sum()
    return max(0.0, min(1.0, share.item()))


# %% [right] projection_by_svd | no readout at all: the share of the centred tokens that lies in the column space of the aligned ones, from an SVD in float64
def explained_variance(tokens, aligned):
    def column_centred(side):
        table = side.detach().reshape(-1, side.shape[-1]).double()
        return table - table.mean(dim=0, keepdim=True)

    x, z = column_centred(tokens), column_centred(aligned)
    basis, stretch, _ = torch.linalg.svd(z, full_matrices=False)
    smallest = stretch.max() * max(z.shape) * torch.finfo(aligned.dtype).eps
    basis = basis[:, stretch > smallest]
    kept = (basis.T @ x).square().sum()
    return float((kept / x.square().sum()).clamp(0.0, 1.0))
