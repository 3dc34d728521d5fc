# %% [wrong] mean_of_the_columns_shares | A share is computed for each dimension and the shares are averaged; the squares should be summed over all dimensions first, then divided.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x, z = x - x.mean(0), z - z.mean(0)
    rest = x - z @ (torch.linalg.pinv(z) @ x)
    shares = 1 - rest.square().sum(0) / x.square().sum(0)
    return shares.mean().clamp(0, 1)

# %% [wrong] one_mean_for_all_columns | One mean of all numbers is subtracted, and not the mean of each column, so the readout lacks its intercept and the denominator is too large.
def explained_variance(tokens, aligned):
    x, z = tokens.flatten(0, -2), aligned.flatten(0, -2)
    x, z = x - x.mean(), z - z.mean()
    guess = z @ (torch.linalg.pinv(z) @ x)
    return (1 - ((x - guess) ** 2).sum() / (x**2).sum()).clamp(0, 1)

# %% [wrong] lengths_without_squares | The lengths of the differences are summed, not their squares.
def explained_variance(tokens, aligned):
    x, z = tokens.flatten(0, -2), aligned.flatten(0, -2)
    x = x - x.mean(dim=0, keepdim=True)
    z = z - z.mean(dim=0, keepdim=True)
    guess = z @ torch.linalg.pinv(z) @ x
    lost = torch.linalg.vector_norm(x - guess, dim=-1).sum()
    all_of_it = torch.linalg.vector_norm(x, dim=-1).sum()
    return torch.clamp(1 - lost / all_of_it, 0.0, 1.0)
