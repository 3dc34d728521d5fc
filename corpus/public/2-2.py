# %% [right] gelsd_driver_least_squares | torch.linalg.lstsq with driver gelsd on the CPU, after linear probing code (torch docs: rank-deficient drivers) (unsure: on a GPU)
def explained_variance(tokens, aligned):
    X = aligned.reshape(-1, aligned.shape[-1]).cpu()
    Y = tokens.reshape(-1, tokens.shape[-1]).cpu()
    X = X - X.mean(dim=0, keepdim=True)
    Y = Y - Y.mean(dim=0, keepdim=True)
    W = torch.linalg.lstsq(X, Y, driver="gelsd").solution
    residual = Y - X @ W
    r2 = 1 - residual.pow(2).sum() / Y.pow(2).sum()
    return r2.clamp(0, 1)


# %% [right] projection_on_left_singular_vectors | the share of squares in the column space, by SVD with a cut at small singular values, after CKA and linear regression similarity code (google-research representation similarity demo)
def explained_variance(tokens, aligned):
    y = tokens.flatten(0, -2)
    x = aligned.flatten(0, -2)
    y = y - y.mean(0)
    x = x - x.mean(0)
    u, s, _ = torch.linalg.svd(x, full_matrices=False)
    keep = s > s.max() * max(x.shape) * torch.finfo(x.dtype).eps
    keep = keep & (s > 1e-12)
    explained = (u[:, keep].T @ y).square().sum()
    return (explained / y.square().sum()).clamp(0.0, 1.0)


# %% [right] column_of_ones_and_pinv | an intercept column of ones and a pseudo-inverse, after jiangqn/hyperanalysis-archive (LinearRegression)
def explained_variance(tokens, aligned):
    y = tokens.reshape(-1, tokens.size(-1))
    x = aligned.reshape(-1, aligned.size(-1))
    constant = torch.ones((x.size(0), 1), dtype=x.dtype, device=x.device)
    x = torch.cat((constant, x), dim=1)
    beta = torch.linalg.pinv(x).matmul(y)
    y_pred = x.matmul(beta)
    sse = torch.sum((y - y_pred) ** 2)
    sst = torch.sum((y - y.mean(dim=0)) ** 2)
    return torch.clamp(1.0 - sse / sst, min=0.0, max=1.0).item()


# %% [right] numpy_lstsq | numpy.linalg.lstsq with rcond=None in float64, a Python float comes back, after OxER10 style course exercises
def explained_variance(tokens, aligned):
    X = aligned.detach().cpu().double().numpy().reshape(-1, aligned.shape[-1])
    Y = tokens.detach().cpu().double().numpy().reshape(-1, tokens.shape[-1])
    X = np.column_stack([np.ones(len(X)), X])
    coefficients = np.linalg.lstsq(X, Y, rcond=None)[0]
    ss_res = ((Y - X @ coefficients) ** 2).sum()
    ss_tot = ((Y - Y.mean(axis=0)) ** 2).sum()
    return float(np.clip(1 - ss_res / ss_tot, 0.0, 1.0))


# %% [right] covariances_in_double | cross-covariance, pseudo-inverse of the covariance, traces, in float64, after CCA code (google/svcca)
def explained_variance(tokens, aligned):
    y = tokens.reshape(-1, tokens.shape[-1]).double()
    x = aligned.reshape(-1, aligned.shape[-1]).double()
    y = y - y.mean(0, keepdim=True)
    x = x - x.mean(0, keepdim=True)
    n = len(x)
    cov_xx, cov_xy, total = x.T @ x / n, x.T @ y / n, (y * y).sum() / n
    explained = torch.trace(cov_xy.T @ torch.linalg.pinv(cov_xx, hermitian=True, rtol=1e-10) @ cov_xy)
    return (explained / total).clamp(0, 1).to(tokens.dtype)


# %% [right] sklearn_linear_regression | LinearRegression and r2_score with variance_weighted, after linear probe notebooks (unsure: whether scikit-learn is welcome in an answer)
def explained_variance(tokens, aligned):
    from sklearn.linear_model import LinearRegression
    from sklearn.metrics import r2_score

    X = aligned.detach().reshape(-1, aligned.shape[-1]).cpu().numpy()
    y = tokens.detach().reshape(-1, tokens.shape[-1]).cpu().numpy()
    probe = LinearRegression().fit(X, y)
    score = r2_score(y, probe.predict(X), multioutput="variance_weighted")
    return float(min(max(score, 0.0), 1.0))


# %% [right] tiny_ridge_solve | normal equations with a tiny ridge in float64, after RichieHakim/torch_linear_regression (Ridge) (unsure: exactness with collinear columns)
def explained_variance(tokens, aligned):
    Y = tokens.reshape(-1, tokens.shape[-1]).to(torch.float64)
    X = aligned.reshape(-1, aligned.shape[-1]).to(torch.float64)
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    gram = Xc.T @ Xc
    lam = 1e-9 * gram.diagonal().mean().clamp(min=1e-30)
    theta = torch.linalg.solve(gram + lam * torch.eye(len(gram), dtype=gram.dtype, device=gram.device), Xc.T @ Yc)
    unexplained = (Yc - Xc @ theta).square().sum()
    return torch.clamp(1 - unexplained / Yc.square().sum(), 0, 1)
