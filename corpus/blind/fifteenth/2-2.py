# %% [wrong] each_image_its_own_readout | The leading dimensions are not pooled: each image gets a readout and a mean of its own, and the results are averaged. With few tokens in an image that fits far too well. Flatten to one long list first.
def explained_variance(tokens, aligned):
    x = tokens - tokens.mean(dim=-2, keepdim=True)
    a = aligned - aligned.mean(dim=-2, keepdim=True)
    rest = x - a @ (torch.linalg.pinv(a) @ x)
    share = 1 - rest.pow(2).sum(dim=(-2, -1)) / x.pow(2).sum(dim=(-2, -1))
    return share.mean().clamp(0, 1)
# %% [wrong] readout_without_intercept | Only the tokens are centred. The aligned tokens keep their mean, so the readout goes through the origin and has no intercept. Centre both sides.
def explained_variance(tokens, aligned):
    """1 - sum ||x - x_hat||^2 / sum ||x - x_mean||^2"""
    x = tokens.reshape(-1, tokens.shape[-1])
    z = aligned.reshape(-1, aligned.shape[-1])
    x = x - x.mean(dim=0)
    A = torch.linalg.pinv(z) @ x
    guess = z @ A
    lost = ((x - guess) ** 2).sum()
    total = (x ** 2).sum()
    return torch.clamp(1 - lost / total, 0.0, 1.0)
# %% [wrong] lengths_not_squared | The lengths of the residuals and of the centred tokens are added up, not their squares. The formula has the sum of the squared lengths above and below.
def explained_variance(tokens, aligned):
    flat = lambda t: t.flatten(0, -2)
    centre = lambda t: t - t.mean(0, keepdim=True)
    x, y = centre(flat(tokens)), centre(flat(aligned))
    x_hat = y @ (torch.linalg.pinv(y) @ x)
    ratio = torch.linalg.norm(x - x_hat, dim=-1).sum() / torch.linalg.norm(x, dim=-1).sum()
    return float((1 - ratio).clamp(min=0, max=1))
