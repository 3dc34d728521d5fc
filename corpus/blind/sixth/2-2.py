# %% [wrong] no_intercept | Neither side is centred, so the readout has no intercept and the total is Σ‖x‖² instead of Σ‖x − mean‖²: tokens with a mean, or a constant aligner, get a wrong share
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    return (1 - (x - x_hat).square().sum() / x.square().sum()).clamp(0, 1)

# %% [wrong] lengths_not_squared | The norms of residual and tokens are divided without squaring them, so it is 1 − √(1 − R²): 0.198 instead of 5/14
def explained_variance(tokens, aligned):
    X, Z = tokens.reshape(-1, tokens.shape[-1]), aligned.reshape(-1, aligned.shape[-1])
    X, Z = X - X.mean(0), Z - Z.mean(0)
    rest = X - Z @ torch.linalg.pinv(Z) @ X
    return (1 - torch.linalg.norm(rest) / torch.linalg.norm(X)).clamp(0.0, 1.0)

# %% [wrong] mean_of_columns | The share is computed for each column and then averaged (uniform_average of sklearn's r2_score), instead of summing the squares over all dimensions first: 2/3 instead of 5/14
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x, z = x - x.mean(0), z - z.mean(0)
    fit = z @ (torch.linalg.pinv(z) @ x)
    r2 = 1 - (x - fit).square().sum(0) / x.square().sum(0).clamp_min(1e-12)
    return r2.mean().clamp(0, 1)

# %% [wrong] readout_backwards | It predicts the aligned tokens from the patches (pinv(x) @ z), not the patches from the aligned: a linear aligner gets 1 whatever it has lost
def explained_variance(tokens, aligned):
    x, z = (side.reshape(-1, side.shape[-1]) for side in (tokens, aligned))
    x = x - x.mean(dim=0, keepdim=True)
    z = z - z.mean(dim=0, keepdim=True)
    back = x @ (torch.linalg.pinv(x) @ z)
    share = 1 - (z - back).pow(2).sum() / z.pow(2).sum()
    return share.clamp(0, 1)

# %% [wrong] each_scene_alone | The leading dimensions are not pooled: means and pseudo-inverse are taken for each scene alone (dim=-2), so nine tokens against 32 numbers fit perfectly and it says 1
def explained_variance(tokens, aligned):
    x = tokens - tokens.mean(dim=-2, keepdim=True)
    z = aligned - aligned.mean(dim=-2, keepdim=True)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    lost = ((x - x_hat) ** 2).sum()
    return torch.clamp(1 - lost / (x ** 2).sum(), 0, 1)

# %% [wrong] spread | The variance of the aligned tokens is divided by that of the patches; that is the spread the text warns of: an aligner times ten gets 1, and no readout is fitted
def explained_variance(tokens, aligned):
    before = tokens.flatten(0, -2).var(0, unbiased=False).sum()
    after = aligned.flatten(0, -2).var(0, unbiased=False).sum()
    return (after / before).clamp(0, 1)

# %% [right] svd_projection | projects the patches onto the column space of the aligned tokens by an SVD, in double precision
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2).double()
    z = aligned.flatten(0, -2).double()
    x, z = x - x.mean(0), z - z.mean(0)
    u, s, _ = torch.linalg.svd(z, full_matrices=False)
    kept = u[:, s > 10 * torch.finfo(aligned.dtype).eps * s.max()]
    captured = (kept.T @ x).square().sum()
    return (captured / x.square().sum()).clamp(0.0, 1.0)
