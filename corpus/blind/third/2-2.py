# %% [wrong] no_intercept | The aligned tokens are not centred and there is no column of ones: the readout has no intercept.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(0)
    guess = z @ (torch.linalg.pinv(z) @ x)
    return (1 - (x - guess).pow(2).sum() / x.pow(2).sum()).clamp(0, 1)

# %% [wrong] mean_of_ratios | Computes the explained share of every dimension by itself and averages these, in place of summing the squares first.
def explained_variance(tokens, aligned):
    x, z = tokens.flatten(0, -2), aligned.flatten(0, -2)
    x, z = x - x.mean(0), z - z.mean(0)
    rest = x - z @ (torch.linalg.pinv(z) @ x)
    share = 1 - rest.square().sum(0) / x.square().sum(0)
    return share.mean().clamp(0, 1)

# %% [wrong] one_mean_for_all | Subtracts a single mean over all numbers in place of the mean of each column.
def explained_variance(tokens, aligned):
    def centred(side):
        rows = side.reshape(-1, side.shape[-1])
        return rows - rows.mean()

    x, z = centred(tokens), centred(aligned)
    back = z @ torch.linalg.pinv(z) @ x
    return torch.clamp(1 - ((x - back) ** 2).sum() / (x**2).sum(), 0, 1)

# %% [wrong] normal_equations | Solves the normal equations; for a constant, or columns that repeat one another, the matrix is singular and solve raises an error or gives nonsense.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(dim=0, keepdim=True)
    z = z - z.mean(dim=0, keepdim=True)
    A = torch.linalg.solve(z.T @ z, z.T @ x)
    unexplained = torch.sum((x - z @ A) ** 2)
    return (1 - unexplained / torch.sum(x**2)).clamp(0, 1)

# %% [wrong] lengths_not_squared | Divides the lengths (norms) of the residual and of the whole; the squares are forgotten.
def explained_variance(tokens, aligned):
    x, z = (side.reshape(-1, side.shape[-1]) for side in (tokens, aligned))
    x, z = (side - side.mean(0) for side in (x, z))
    rest = x - z @ torch.linalg.pinv(z) @ x
    return (1 - torch.linalg.norm(rest) / torch.linalg.norm(x)).clamp(0.0, 1.0)

# %% [wrong] wrong_direction | Predicts the aligned tokens from the tokens, which nearly always works, in place of the tokens from the aligned ones.
def explained_variance(tokens, aligned):
    source = tokens.flatten(end_dim=-2)
    goal = aligned.flatten(end_dim=-2)
    source, goal = source - source.mean(0), goal - goal.mean(0)
    A = torch.linalg.pinv(source) @ goal
    missed = (goal - source @ A).square().sum()
    total = goal.square().sum()
    return 0.0 if total == 0 else (1 - missed / total).clamp(0, 1)

# %% [right] column_of_ones | Gives the readout its intercept by a column of ones, in place of centring both sides.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    design = torch.cat([z, torch.ones_like(z[:, :1])], dim=1)
    fitted = design @ (torch.linalg.pinv(design) @ x)
    missed = F.mse_loss(fitted, x, reduction="sum")
    total = F.mse_loss(x.mean(0).expand_as(x), x, reduction="sum")
    return float(min(max(1 - missed / total, 0.0), 1.0))
