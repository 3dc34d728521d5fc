# %% [wrong] no_intercept | Neither side is centred, so the readout has no intercept and the squares are not taken about the mean.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    readout = torch.linalg.pinv(z) @ x
    residual = x - z @ readout
    return (1 - residual.square().sum() / x.square().sum()).clamp(0, 1)

# %% [wrong] aligned_not_centred | Only the tokens are centred; the aligned tokens keep their mean, so the readout still lacks its intercept.
def explained_variance(tokens, aligned):
    X = tokens.reshape(-1, tokens.shape[-1])
    Z = aligned.reshape(-1, aligned.shape[-1])
    X = X - X.mean(dim=0, keepdim=True)
    X_hat = Z @ (torch.linalg.pinv(Z) @ X)
    ss_res = ((X - X_hat) ** 2).sum()
    ss_tot = (X ** 2).sum()
    return torch.clamp(1 - ss_res / ss_tot, 0.0, 1.0)

# %% [wrong] averaged_over_dimensions | It takes one ratio for each dimension and averages them; the squares must be summed over all dimensions before dividing.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(0)
    z = z - z.mean(0)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    res = ((x - x_hat) ** 2).sum(0)
    tot = (x ** 2).sum(0)
    r2 = 1 - res / tot  # one for each feature
    return r2.mean().clamp(0, 1)

# %% [wrong] reads_aligned_from_tokens | The two sides are swapped: it predicts the aligned tokens from the tokens, not the tokens from the aligned ones.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(0)
    z = z - z.mean(0)
    A = torch.linalg.pinv(x) @ z
    z_hat = x @ A
    return (1 - (z - z_hat).pow(2).sum() / z.pow(2).sum()).clamp(0, 1)

# %% [wrong] ratio_of_spreads | It compares the spread of the aligned tokens with that of the tokens, which is the shortcut the text warns of; there is no readout.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    var_x = x.var(dim=0).sum()
    var_z = z.var(dim=0).sum()
    return (var_z / var_x).clamp(0, 1)

# %% [wrong] unexplained_share | It returns the share that is lost: the "1 −" is missing.
def explained_variance(tokens, aligned):
    x, z = (t.reshape(-1, t.shape[-1]) for t in (tokens, aligned))
    x, z = x - x.mean(0), z - z.mean(0)
    rest = x - z @ torch.linalg.pinv(z) @ x
    share = (rest ** 2).sum() / (x ** 2).sum()
    return share.clamp(0, 1)

# %% [wrong] lstsq_default_driver | torch.linalg.lstsq with its default driver needs full column rank; with repeated or constant columns it gives a wrong readout.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(0)
    z = z - z.mean(0)
    A = torch.linalg.lstsq(z, x).solution
    x_hat = z @ A
    r2 = 1 - (x - x_hat).square().sum() / x.square().sum()
    return torch.clamp(r2, 0, 1)

# %% [wrong] grand_mean | It subtracts one mean of the whole tensor; each column needs its own mean (mean over dim 0).
def explained_variance(tokens, aligned):
    X = tokens.flatten(0, -2)
    Z = aligned.flatten(0, -2)
    X = X - X.mean()
    Z = Z - Z.mean()
    W = torch.linalg.pinv(Z) @ X
    err = X - Z @ W
    return (1 - err.square().sum() / X.square().sum()).clamp(0, 1)

# %% [wrong] readout_for_each_batch | The leading dimensions are not pooled: every batch entry gets its own mean and its own readout.
def explained_variance(tokens, aligned):
    # pinv and @ work on batches, so no reshaping is necessary
    x = tokens - tokens.mean(dim=-2, keepdim=True)
    z = aligned - aligned.mean(dim=-2, keepdim=True)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    return (1 - (x - x_hat).square().sum() / x.square().sum()).clamp(0, 1)

# %% [wrong] flatten_keeps_first_axis | flatten(1) keeps the first axis and joins the others, so for a batch whole sequences are taken as one token.
def explained_variance(tokens, aligned):
    if tokens.ndim > 2:
        tokens = tokens.flatten(1)
        aligned = aligned.flatten(1)
    tokens = tokens - tokens.mean(0)
    aligned = aligned - aligned.mean(0)
    predicted = aligned @ (torch.linalg.pinv(aligned) @ tokens)
    unexplained = (tokens - predicted).pow(2).sum()
    return (1 - unexplained / tokens.pow(2).sum()).clamp(0, 1)

# %% [wrong] centred_in_place | The inputs themselves are centred in place (-=), so the caller's tensors are changed.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x -= x.mean(0)
    z -= z.mean(0)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    return (1 - (x - x_hat).square().sum() / x.square().sum()).clamp(0, 1)

# %% [wrong] norms_not_squared | It divides the lengths (norms) of the residual and the tokens, not their squares.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.size(-1))
    z = aligned.reshape(-1, aligned.size(-1))
    x = x - x.mean(0)
    z = z - z.mean(0)
    best = torch.linalg.pinv(z) @ x
    residual = x - z @ best
    ratio = torch.linalg.norm(residual) / torch.linalg.norm(x)
    return (1 - ratio).clamp(min=0, max=1)

# %% [wrong] normal_equations_inverse | It inverts ZᵀZ, which is singular when aligned columns repeat one another or are constant.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(0)
    z = z - z.mean(0)
    # ordinary least squares: (Z^T Z)^-1 Z^T X
    A = torch.linalg.inv(z.T @ z) @ z.T @ x
    x_hat = z @ A
    return (1 - (x - x_hat).square().sum() / x.square().sum()).clamp(0, 1)

# %% [wrong] ridge_penalty | A ridge penalty of 1 is added to the normal equations, so the readout is not the best one and the result is too small.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(0)
    z = z - z.mean(0)
    eye = torch.eye(z.shape[1], dtype=z.dtype, device=z.device)
    A = torch.linalg.solve(z.T @ z + eye, z.T @ x)   # + eye: otherwise it may be singular
    rest = x - z @ A
    return (1 - rest.square().sum() / x.square().sum()).clamp(0, 1)

# %% [wrong] ratio_per_token | It divides for each token and averages these ratios; both sums must be taken over all tokens before dividing.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(0)
    z = z - z.mean(0)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    share = ((x - x_hat) ** 2).sum(-1) / (x ** 2).sum(-1)
    return (1 - share.mean()).clamp(0, 1)

# %% [wrong] tokens_standardised | The tokens are divided by their standard deviation, so every dimension counts alike and not by its variance.
def explained_variance(tokens, aligned):
    def standardise(t):
        t = t.flatten(0, -2)
        return (t - t.mean(0)) / (t.std(0) + 1e-8)

    x, z = standardise(tokens), standardise(aligned)
    rest = x - z @ (torch.linalg.pinv(z) @ x)
    return float((1 - rest.square().sum() / x.square().sum()).clamp(0, 1))

# %% [wrong] total_not_about_mean | The total in the denominator is the plain sum of squares of the tokens and not the one about their mean.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    ones = torch.ones(len(z), 1, dtype=z.dtype, device=z.device)
    z1 = torch.cat([z, ones], dim=1)  # the intercept
    x_hat = z1 @ (torch.linalg.pinv(z1) @ x)
    return (1 - ((x - x_hat) ** 2).sum() / (x ** 2).sum()).clamp(0, 1)

# %% [wrong] printed_not_returned | The result is printed and not returned, so the function returns None.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(0)
    z = z - z.mean(0)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    result = (1 - (x - x_hat).square().sum() / x.square().sum()).clamp(0, 1)
    print(f"explained variance: {result:.3f}")

# %% [right] column_of_ones | The intercept is a column of ones, with the total taken about the mean; returns a float.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1]).double()
    z = aligned.reshape(-1, aligned.shape[-1]).double()
    z = torch.cat([z, z.new_ones(z.shape[0], 1)], dim=1)
    x_hat = z @ (torch.linalg.pinv(z, rtol=1e-6) @ x)
    lost = (x - x_hat).pow(2).sum()
    total = (x - x.mean(dim=0)).pow(2).sum()
    return min(max(float(1 - lost / total), 0.0), 1.0)

# %% [right] projection_by_svd | Projects the centred tokens on the column space of the aligned ones by an SVD; no readout is written down.
def explained_variance(tokens, aligned):
    """How much of the tokens a linear readout gets back from the aligned ones."""
    x = tokens.flatten(end_dim=-2)
    z = aligned.flatten(end_dim=-2)
    x = x - x.mean(0, keepdim=True)
    z = z - z.mean(0, keepdim=True)
    U, S, _ = torch.linalg.svd(z, full_matrices=False)
    tolerance = S.max() * max(z.shape) * torch.finfo(z.dtype).eps
    U = U[:, S > tolerance]
    explained = (U.T @ x).square().sum() / x.square().sum()
    return explained.clamp(0, 1)

# %% [right] lstsq_gelsd | lstsq in float64 on the CPU with the gelsd driver, which copes with missing rank.
def explained_variance(tokens, aligned):
    X = tokens.detach().cpu().double().flatten(0, -2)
    Z = aligned.detach().cpu().double().flatten(0, -2)
    X = X - X.mean(0)
    Z = Z - Z.mean(0)
    A = torch.linalg.lstsq(Z, X, driver="gelsd", rcond=1e-6).solution
    residual = X - Z @ A
    r2 = 1.0 - residual.square().sum() / X.square().sum()
    return r2.clamp(0.0, 1.0).item()

# %% [right] pinv_obvious_long | The way of the hints, in many small steps, with var for the denominators.
def explained_variance(tokens, aligned):
    d_vision, d_text = tokens.shape[-1], aligned.shape[-1]
    tokens = tokens.reshape(-1, d_vision)
    aligned = aligned.reshape(-1, d_text)
    tokens_c = tokens - tokens.mean(dim=0)
    aligned_c = aligned - aligned.mean(dim=0)
    readout = torch.linalg.pinv(aligned_c) @ tokens_c
    restored = aligned_c @ readout
    lost = (tokens_c - restored).var(dim=0, unbiased=False).sum()
    total = tokens_c.var(dim=0, unbiased=False).sum()
    return torch.clamp(1 - lost / total, min=0, max=1)
