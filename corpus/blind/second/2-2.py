# %% [right] column_of_ones | right
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2).double()
    z = aligned.flatten(0, -2).double()
    with_one = torch.cat([z, torch.ones(len(z), 1, dtype=z.dtype, device=z.device)], dim=1)
    back = with_one @ (torch.linalg.pinv(with_one) @ x)
    lost = ((x - back) ** 2).sum()
    all_of_it = ((x - x.mean(dim=0, keepdim=True)) ** 2).sum()
    return float(min(max(1 - lost / all_of_it, 0.0), 1.0))

# %% [wrong] no_intercept | Neither side is centred for the readout, so it has no intercept.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    back = z @ (torch.linalg.pinv(z) @ x)
    share = 1 - (x - back).pow(2).sum() / (x - x.mean(0)).pow(2).sum()
    return share.clamp(0, 1)

# %% [wrong] one_mean_for_all | The mean is one number over all dimensions instead of one for each column.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean()
    z = z - z.mean()
    back = z @ (torch.linalg.pinv(z) @ x)
    share = 1 - (x - back).pow(2).sum() / x.pow(2).sum()
    return share.clamp(0, 1)

# %% [wrong] mean_of_shares | The share is computed for each dimension and then averaged, instead of summing the squares first.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(0)
    z = z - z.mean(0)
    back = z @ (torch.linalg.pinv(z) @ x)
    shares = 1 - (x - back).pow(2).sum(0) / x.pow(2).sum(0).clamp(min=1e-12)
    return shares.mean().clamp(0, 1)

# %% [wrong] wrong_direction | The aligned tokens are predicted from the tokens instead of the tokens from the aligned ones.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(0)
    z = z - z.mean(0)
    back = x @ (torch.linalg.pinv(x) @ z)
    share = 1 - (z - back).pow(2).sum() / z.pow(2).sum().clamp(min=1e-12)
    return share.clamp(0, 1)

# %% [wrong] ratio_of_spread | It returns the variance of the aligned tokens over that of the tokens; there is no readout.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(0)
    z = z - z.mean(0)
    share = z.pow(2).sum() / x.pow(2).sum()
    return share.clamp(0, 1)

# %% [wrong] lost_returned | The share that is lost is returned, not the share that is explained (1 - is missing).
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(0)
    z = z - z.mean(0)
    back = z @ (torch.linalg.pinv(z) @ x)
    share = (x - back).pow(2).sum() / x.pow(2).sum()
    return share.clamp(0, 1)

# %% [wrong] not_flattened | The leading dimensions are not flattened, so each scene gets a mean over scenes and a readout of its own.
def explained_variance(tokens, aligned):
    x, z = tokens, aligned
    x = x - x.mean(0)
    z = z - z.mean(0)
    back = z @ (torch.linalg.pinv(z) @ x)
    share = 1 - (x - back).pow(2).sum() / x.pow(2).sum()
    return share.clamp(0, 1)

# %% [wrong] square_root | The root of the share is returned (a correlation, not a share of variance).
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(0)
    z = z - z.mean(0)
    back = z @ (torch.linalg.pinv(z) @ x)
    share = 1 - (x - back).pow(2).sum() / x.pow(2).sum()
    return share.clamp(0, 1).sqrt()

# %% [wrong] not_centred_denominator | The denominator is the sum of squares around 0 instead of around the mean.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    total = x.pow(2).sum()
    x = x - x.mean(0)
    z = z - z.mean(0)
    back = z @ (torch.linalg.pinv(z) @ x)
    share = 1 - (x - back).pow(2).sum() / total
    return share.clamp(0, 1)
