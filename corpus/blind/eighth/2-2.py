# %% [wrong] one_mean_for_all_columns | Both sides are centred with one number, the mean of everything; it should be the mean of each column (mean(0)). The readout has no proper intercept, and the total is not measured from the mean patch.
def explained_variance(tokens, aligned):
    x, z = tokens.flatten(0, -2), aligned.flatten(0, -2)
    x, z = x - x.mean(), z - z.mean()
    back = z @ (torch.linalg.pinv(z) @ x)
    return (1 - (x - back).square().sum() / x.square().sum()).clamp(0, 1)

# %% [wrong] a_readout_for_each_scene | A readout is fitted for each entry of the batch on its own and the results are averaged; all leading dimensions should be pooled into one list. With few tokens a scene the readout explains everything, and the result is near 1.
def explained_variance(tokens, aligned):
    if tokens.ndim > 2:
        pairs = zip(tokens, aligned)
        return torch.stack([explained_variance(x, z) for x, z in pairs]).mean()
    x = tokens - tokens.mean(0)
    z = aligned - aligned.mean(0)
    rest = x - z @ (torch.linalg.pinv(z) @ x)
    return (1 - rest.square().sum() / x.square().sum()).clamp(0, 1)

# %% [wrong] total_not_from_the_mean | The denominator is the sum of squares of the raw tokens; it should be measured from their mean patch. What survives is overstated as soon as the tokens' mean is not 0.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    centre = x.mean(0)
    z = z - z.mean(0)
    guess = z @ (torch.linalg.pinv(z) @ (x - centre)) + centre
    lost = ((x - guess) ** 2).sum()
    return (1 - lost / (x**2).sum()).clamp(0, 1)

# %% [wrong] lengths_not_squares | The norms are divided as they are; they should be squared first. For 5/14 the result is 1 − √(9/14) = 0.198 in place of 0.357.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x, z = x - x.mean(0), z - z.mean(0)
    rest = x - z @ torch.linalg.pinv(z) @ x
    return (1 - rest.norm() / x.norm()).clamp(0.0, 1.0)

# %% [wrong] read_in_the_other_direction | The aligned tokens are predicted from the tokens, and their variance is explained; it should be the other way round. A linear aligner then always has 1, whatever it lost.
def explained_variance(tokens, aligned):
    source, wanted = (side.flatten(0, -2) for side in (tokens, aligned))
    source, wanted = source - source.mean(0), wanted - wanted.mean(0)
    readout = torch.linalg.pinv(source) @ wanted
    rest = wanted - source @ readout
    return (1 - rest.square().sum() / wanted.square().sum()).clamp(0, 1)

# %% [wrong] mean_of_shares_by_column | The share is computed for each dimension and averaged; the squares should be summed over all dimensions, and divided once. In the example (1, 1, 0) gives 2/3 in place of 5/14, and a pixel that never changes gives NaN.
def explained_variance(tokens, aligned):
    x, z = (side.reshape(-1, side.shape[-1]) for side in (tokens, aligned))
    x, z = (side - side.mean(dim=0, keepdim=True) for side in (x, z))
    rest = x - z @ (torch.linalg.pinv(z) @ x)
    shares = 1 - rest.pow(2).sum(0) / x.pow(2).sum(0)  # r2 of each pixel
    return shares.mean().clamp(0, 1)

# %% [right] length_of_the_shadow | No readout is computed: the explained part is the projection of the centred tokens onto the directions (SVD) that the centred aligned tokens span.
def explained_variance(tokens, aligned):
    x, z = (side.reshape(-1, side.shape[-1]) for side in (tokens, aligned))
    x, z = x - x.mean(0), z - z.mean(0)
    directions, sizes, _ = torch.linalg.svd(z, full_matrices=False)
    smallest = sizes.max() * max(z.shape) * torch.finfo(z.dtype).eps
    directions = directions[:, sizes > smallest]  # columns that repeat one another count once
    shadow = directions.T @ x
    return (shadow.square().sum() / x.square().sum()).clamp(0, 1)
