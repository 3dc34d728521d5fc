# %% [wrong] no_root | The scores are divided by d_k instead of √d_k: the maps start even and stay too even
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / query.shape[-1]
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] width_of_this_model | √128 is written into the code, the width of this training's model; it must be right for every d_k
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.mT / 128 ** 0.5
    weights = (scores - scores.amax(-1, keepdim=True)).softmax(-1)
    return weights @ value, weights

# %% [wrong] number_of_patches | The root is taken of key.shape[-2], the number of patches (9), instead of the width: the scores stay nearly four times too large at d_k = 128
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    n = key.shape[-2]
    scores = torch.einsum("...td,...sd->...ts", query, key) / n ** 0.5
    e = torch.exp(scores - scores.max(-1, keepdim=True).values)
    weights = e / e.sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] weights_scaled | The weights are divided by √d_k after the softmax instead of the scores before it: they are as sharp as ever, and their rows sum to 1/√d_k
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-1, -2)
    weights = torch.softmax(scores, dim=-1) / query.shape[-1] ** 0.5
    return weights @ value, weights

# %% [wrong] divided_by_spread | The scores are divided by their own standard deviation instead of √d_k: maps can then never become sharp, however far the training goes
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1)
    scores = scores / scores.std(dim=-1, keepdim=True).clamp_min(1e-6)
    weights = F.softmax(scores, dim=-1)
    return weights @ value, weights

# %% [wrong] unit_vectors | Query and key are normalised to length 1 (cosine attention) instead of dividing by √d_k: all scores lie in −1…1, and the lengths are lost
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights

# %% [right] rsqrt_on_query | the query is scaled, and log-sum-exp takes the place of the subtraction
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-2, -1)
    weights = torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True))
    return weights @ value, weights
