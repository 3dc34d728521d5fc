# %% [wrong] divided_by_the_width | Divides by d_k in place of its root.
def look_once(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1]
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights


# %% [wrong] root_of_128 | The root of 128, the width of this model, is written into the code: it must be right for every d_k.
def look_once(query, key, value):
    scores = (query @ key.transpose(-2, -1)) / 128 ** 0.5
    scores = scores - scores.amax(-1, keepdim=True)
    e = scores.exp()
    weights = e / e.sum(-1, keepdim=True)
    return weights @ value, weights


# %% [wrong] root_of_the_patches | Divides by the root of the number of patches, `key.shape[-2]`.
def look_once(query, key, value):
    S = key.shape[-2]
    scores = query @ key.transpose(-2, -1)
    scores = scores / S ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% [wrong] cosines | Queries and keys are divided by their length: scores of −1 to 1 are another function, and the maps can never become sharp.
def look_once(query, key, value):
    q = F.normalize(query, dim=-1)
    k = F.normalize(key, dim=-1)
    weights = (q @ k.transpose(-2, -1)).softmax(-1)
    return weights @ value, weights


# %% [wrong] root_after_the_softmax | The weights are divided by √d_k, after the softmax: the maps are as sharp as before, and no longer sum to 1.
def look_once(query, key, value):
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    weights = weights / query.shape[-1] ** 0.5
    return weights @ value, weights


# %% [wrong] only_the_maximum_scaled | Only the largest score is divided by the root before it is subtracted; the scores are as large as before.
def look_once(query, key, value):
    root = query.shape[-1] ** 0.5
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True) / root
    weights = torch.softmax(scores, -1)
    return weights @ value, weights


# %% [right] fourth_root_each | Divides queries and keys each by the fourth root of d_k, and exponentiates differences to the log-sum-exp.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    share = query.shape[-1] ** -0.25
    scores = torch.einsum("...td,...sd->...ts", query * share, key * share)
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return torch.einsum("...ts,...sv->...tv", weights, value), weights
