# %% [wrong] mean_of_shares | Divides for each dimension by itself and takes the mean of the shares, instead of summing the squares over all dimensions first. For variances 1, 4 and 9, two of them kept, it gives 2/3 and not 5/14.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(0)
    z = z - z.mean(0)
    guess = z @ (torch.linalg.pinv(z) @ x)
    lost = (x - guess).pow(2).sum(0)
    total = x.pow(2).sum(0).clamp(min=1e-12)
    return (1 - lost / total).mean().clamp(0, 1)


# %% [wrong] leading_axes_not_pooled | Forgets to pool the leading dimensions. For tokens (N, d) it is right; for (B, n, d) each scene gets a readout of its own, and the mean is taken over the scenes, place by place, so too much seems to survive.
def explained_variance(tokens, aligned):
    x = tokens - tokens.mean(dim=0)
    z = aligned - aligned.mean(dim=0)
    A = torch.linalg.pinv(z) @ x
    share = 1 - ((x - z @ A) ** 2).sum() / (x**2).sum()
    return share.clamp(0, 1)


# %% [wrong] inverse_of_the_normal_matrix | Solves the normal equations with torch.linalg.inv. Where aligned is constant, or where columns repeat one another, the matrix has no inverse: an error about a singular matrix, or garbage, where 0 (or the right share) is expected.
def explained_variance(tokens, aligned):
    x = tokens.flatten(0, -2)
    z = aligned.flatten(0, -2)
    x = x - x.mean(0, keepdim=True)
    z = z - z.mean(0, keepdim=True)
    A = torch.linalg.inv(z.T @ z) @ z.T @ x
    residual = x - z @ A
    return torch.clamp(1 - residual.square().sum() / x.square().sum(), 0.0, 1.0)


# %% [wrong] lengths_not_squared | Divides the lengths (norms) and forgets to square them. For the example by hand it gives 1 - √(9/14) = 0.198 and not 0.357; at 0 and 1 it is right.
def explained_variance(tokens, aligned):
    X, Z = (t.reshape(-1, t.shape[-1]) for t in (tokens, aligned))
    X, Z = X - X.mean(0), Z - Z.mean(0)
    X_hat = Z @ torch.linalg.pinv(Z) @ X
    return (1 - torch.linalg.norm(X - X_hat) / torch.linalg.norm(X)).clamp(min=0, max=1)


# %% [wrong] aligned_side_not_centred | Subtracts the mean from the tokens only; the aligned side keeps its mean, so the readout has no intercept of its own. Where the aligned tokens have a mean other than 0 too little seems to survive.
def explained_variance(tokens, aligned):
    tokens = tokens.reshape(-1, tokens.shape[-1])
    aligned = aligned.reshape(-1, aligned.shape[-1])
    centred = tokens - tokens.mean(0)
    A = torch.linalg.pinv(aligned) @ centred
    left = ((centred - aligned @ A) ** 2).sum()
    return (1 - left / (centred**2).sum()).clamp(0, 1)


# %% [right] projected_on_singular_directions | No readout matrix: projects the centred tokens onto the directions that the centred aligned tokens span, found by a singular value decomposition in float64.
def explained_variance(tokens, aligned):
    def pooled(side):
        flat = side.reshape(-1, side.shape[-1]).double()
        return flat, flat - flat.mean(0)

    _, x = pooled(tokens)
    raw, z = pooled(aligned)
    size = z.norm(dim=0)
    moving = size > 1e-6 * raw.norm(dim=0).clamp(min=1e-30)
    if not moving.any():
        return torch.zeros((), dtype=tokens.dtype, device=tokens.device)
    U, S, _ = torch.linalg.svd(z[:, moving] / size[moving], full_matrices=False)
    U = U[:, S > S[0] * max(z.shape) * torch.finfo(torch.float32).eps]
    return ((U.T @ x).square().sum() / x.square().sum()).clamp(0, 1).to(tokens.dtype)
