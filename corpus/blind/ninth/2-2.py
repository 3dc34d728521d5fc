# %% [wrong] fitted_on_half_tested_on_half | Fits the readout on the first half of the tokens and measures on the other half, as for a trained model. The best readout of all tokens is asked for: the share comes out too small, and with few tokens it is 0.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    half = len(x) // 2
    x = x - x[:half].mean(0)
    z = z - z[:half].mean(0)
    A = torch.linalg.pinv(z[:half]) @ x[:half]
    rest = (x[half:] - z[half:] @ A).square().sum()
    total = (x[half:] - x[half:].mean(0)).square().sum()
    return (1 - rest / total).clamp(0, 1)

# %% [wrong] a_readout_for_each_scene | Does not pool the leading axes: every scene gets a mean and a readout of its own. One readout for all is asked for; with nine tokens and 32 numbers each scene can be fitted perfectly, and the result is near 1.
def explained_variance(tokens, aligned):
    centred_x = tokens - tokens.mean(dim=-2, keepdim=True)
    centred_z = aligned - aligned.mean(dim=-2, keepdim=True)
    fitted = centred_z @ (torch.linalg.pinv(centred_z) @ centred_x)
    lost = (centred_x - fitted).pow(2).sum()
    return torch.clamp(1 - lost / centred_x.pow(2).sum(), 0.0, 1.0)

# %% [wrong] mean_of_the_columns_shares | Works out a share for each dimension and takes their mean. The squares should be summed over all dimensions first: the example gives 2/3 in place of 5/14, and a constant dimension gives NaN.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x, z = x - x.mean(0), z - z.mean(0)
    residual = x - z @ torch.linalg.pinv(z) @ x
    share = 1 - residual.square().sum(0) / x.square().sum(0)
    return share.mean().clamp(0, 1)

# %% [wrong] normal_equations_without_care | Solves the normal equations with torch.linalg.solve. Where aligned columns repeat one another or are constant the matrix is singular: an error or a wild number, where the pseudo-inverse would give the answer.
def explained_variance(tokens, aligned):
    def centred(side):
        side = side.reshape(-1, side.shape[-1])
        return side - side.mean(dim=0, keepdim=True)

    x, z = centred(tokens), centred(aligned)
    readout = torch.linalg.solve(z.T @ z, z.T @ x)
    unexplained = torch.sum((x - z @ readout) ** 2) / torch.sum(x**2)
    return (1 - unexplained).clamp(0, 1)

# %% [wrong] total_about_zero | The readout has its intercept, but what it misses is divided by the sum of squares about 0 and not about the mean. Tokens with a mean far from 0 look well explained, even by a constant.
def explained_variance(tokens, aligned):
    x = tokens.flatten(end_dim=-2)
    z = aligned.flatten(end_dim=-2)
    ones = torch.ones_like(z[:, :1])
    design = torch.cat([z, ones], dim=1)
    guess = design @ (torch.linalg.pinv(design) @ x)
    ratio = ((x - guess) ** 2).sum() / (x**2).sum()
    return max(0.0, min(1.0, 1 - ratio.item()))

# %% [wrong] readout_the_wrong_way | Predicts the aligned tokens from the tokens. It should get the tokens back from the aligned ones: any linear aligner gets 1, whatever it throws away.
def explained_variance(tokens, aligned):
    source, goal = tokens.flatten(0, -2), aligned.flatten(0, -2)
    source = source - source.mean(0)
    goal = goal - goal.mean(0)
    A = torch.linalg.pinv(source) @ goal
    lost = (goal - source @ A).norm() ** 2
    return torch.clamp(1 - lost / goal.norm() ** 2, min=0, max=1)

# %% [right] length_in_the_column_space | No readout is made: an SVD of the aligned side gives an orthonormal basis of what it can say, and the share is the squared length of the tokens in it.
def explained_variance(tokens, aligned):
    x, z = (side.flatten(0, -2) for side in (tokens, aligned))
    x, z = x - x.mean(0, keepdim=True), z - z.mean(0, keepdim=True)
    basis, strength, _ = torch.linalg.svd(z, full_matrices=False)
    least = 8 * torch.finfo(z.dtype).eps * max(z.shape) * torch.maximum(strength.max(), aligned.abs().max())
    said = basis[:, strength > least].T @ x
    return (said.square().sum() / x.square().sum()).clamp(0, 1)
