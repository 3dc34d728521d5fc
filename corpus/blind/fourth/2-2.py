# %% [wrong] no_intercept | Neither side is centred for the readout, so it has no intercept.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    A = torch.linalg.pinv(z) @ x
    rest = (x - z @ A).pow(2).sum()
    total = (x - x.mean(0)).pow(2).sum()
    return (1 - rest / total).clamp(0, 1)


# %% [wrong] reads_out_the_aligned | The readout goes the wrong way: from the tokens to the aligned ones.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2) if tokens.ndim > 2 else tokens
    z = aligned.flatten(0, -2) if aligned.ndim > 2 else aligned
    x = x - x.mean(0, keepdim=True)
    z = z - z.mean(0, keepdim=True)
    best = torch.linalg.pinv(x) @ z
    residual = z - x @ best
    return torch.clamp(1 - (residual ** 2).sum() / (z ** 2).sum(), 0.0, 1.0)


# %% [wrong] mean_of_ratios | Divides dimension by dimension and takes the mean of the shares; the squares are to be added up over all dimensions first.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x, z = x - x.mean(0), z - z.mean(0)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    per_dim = 1 - ((x - x_hat) ** 2).sum(0) / (x ** 2).sum(0)
    return per_dim.mean().clamp(0, 1)


# %% [wrong] ratio_of_spreads | Compares the spread of the aligned tokens with that of the tokens: the tempting shortcut of the text, which says nothing about information.
def explained_variance(tokens, aligned):
    before = tokens.reshape(-1, tokens.shape[-1]).var(0).sum()
    after = aligned.reshape(-1, aligned.shape[-1]).var(0).sum()
    return (after / before).clamp(0, 1)


# %% [wrong] scene_by_scene | The leading dimensions are not pooled: each scene gets a mean and a readout of its own.
def explained_variance(tokens, aligned):
    x = tokens - tokens.mean(-2, keepdim=True)
    z = aligned - aligned.mean(-2, keepdim=True)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    left = (x - x_hat).square().sum()
    return (1 - left / x.square().sum()).clamp(min=0, max=1)


# %% [wrong] one_mean_for_all | Subtracts a single mean over all numbers in place of the mean of each column.
def explained_variance(tokens, aligned):
    X = tokens.reshape(-1, tokens.shape[-1])
    Z = aligned.reshape(-1, aligned.shape[-1])
    X = X - X.mean()
    Z = Z - Z.mean()
    guess = Z @ torch.linalg.pinv(Z) @ X
    score = 1 - ((X - guess) ** 2).sum() / (X ** 2).sum()
    return float(score.clamp(0, 1))


# %% [right] column_of_ones | Leaves the aligned tokens as they are and appends a column of ones, which is the intercept; in double precision, returned as a float.
def explained_variance(tokens, aligned):
    x = tokens.detach().double().reshape(-1, tokens.shape[-1])
    z = aligned.detach().double().reshape(-1, aligned.shape[-1])
    z = torch.cat([z, torch.ones_like(z[:, :1])], dim=1)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    lost = torch.linalg.norm(x - x_hat) ** 2
    spread = torch.linalg.norm(x - x.mean(0)) ** 2
    return min(1.0, max(0.0, 1.0 - float(lost / spread)))
