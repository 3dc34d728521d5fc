# %% [wrong] a_readout_for_each_batch | The leading dimensions are not pooled: mean and pseudo-inverse are taken over axis -2, so each scene gets a readout of its own, and with few tokens each nearly everything is explained. There should be one readout for one long list.
def explained_variance(tokens, aligned):
    x = tokens - tokens.mean(dim=-2, keepdim=True)
    z = aligned - aligned.mean(dim=-2, keepdim=True)
    A = torch.linalg.pinv(z) @ x
    rest = x - z @ A
    return (1 - (rest**2).sum() / (x**2).sum()).clamp(0, 1)

# %% [wrong] mean_of_the_columns | The share is computed for each dimension and then averaged, so a pixel that hardly varies counts as much as any other (3 parts of variance 1, 4, 9 give 2/3 and not 5/14). The squares should be summed over all dimensions before dividing.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(0)
    z = z - z.mean(0)
    x_hat = z @ (torch.linalg.pinv(z) @ x)
    r2 = 1 - ((x - x_hat) ** 2).sum(0) / (x**2).sum(0).clamp(min=1e-12)
    return r2.mean().clamp(0, 1)

# %% [wrong] normal_equations_inverted | The readout is found by inverting ZᵀZ. Where columns repeat one another or are constant this matrix has no inverse: it crashes, or rounding decides. The pseudo-inverse copes with that, and a constant should give 0.
def explained_variance(tokens, aligned):
    X = tokens.flatten(0, -2)
    Z = aligned.flatten(0, -2)
    X = X - X.mean(dim=0)
    Z = Z - Z.mean(dim=0)
    A = torch.linalg.inv(Z.T @ Z) @ Z.T @ X
    explained = 1 - (X - Z @ A).square().sum() / X.square().sum()
    return torch.clamp(explained, 0, 1)

# %% [wrong] lengths_not_squared | The norms of residual and tokens are divided without squaring them: 1 − √(9/14) = 0.198 for the example, in place of 5/14. Sums of squares should be compared.
def explained_variance(tokens, aligned):
    def centred(t):
        t = t.reshape(-1, t.size(-1))
        return t - t.mean(0, keepdim=True)

    x, z = centred(tokens), centred(aligned)
    guess = z @ (torch.linalg.pinv(z) @ x)
    return (1 - torch.linalg.norm(x - guess) / torch.linalg.norm(x)).clamp(0.0, 1.0)

# %% [wrong] readout_without_intercept | Only the patches are centred, the aligned tokens are not, and no column of ones is added. The readout has no intercept, and an aligner with a bias seems to lose more than it does.
def explained_variance(tokens, aligned):
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(0)
    A = torch.linalg.pinv(z) @ x
    residual = x - z @ A
    share = 1 - residual.pow(2).sum() / x.pow(2).sum()
    return share.clamp(0, 1)

# %% [right] projection_onto_singular_vectors | No readout matrix at all: the explained part is the projection of the centred patches onto the left singular vectors of the centred aligned tokens that have a singular value above rounding.
def explained_variance(tokens, aligned):
    x, z = (side.flatten(end_dim=-2).double() for side in (tokens, aligned))
    x, z = x - x.mean(dim=0), z - z.mean(dim=0)
    u, s, _ = torch.linalg.svd(z, full_matrices=False)
    tolerance = max(z.shape) * torch.finfo(aligned.dtype).eps * s.max()
    basis = u[:, s > tolerance]
    share = (basis.T @ x).square().sum() / x.square().sum()
    return float(share.clamp(min=0, max=1))
