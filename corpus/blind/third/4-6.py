# %% [wrong] fixed_root | Divides by the root of 128, the width in this training; it must be right for every d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / 128**0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] no_root | Divides by d_k without the root: the maps begin even, and are too flat.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = torch.einsum("...td,...sd->...ts", query, key) / query.shape[-1]
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights

# %% [wrong] root_of_the_keys | Divides by the root of the number of patches, S, in place of the width of a key.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d_k = key.shape[-2]
    scores = query @ key.mT * d_k**-0.5
    scores = scores - scores.max(dim=-1, keepdim=True).values
    powers = scores.exp()
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] overflow_again | Adds the root but drops the subtraction of the largest score: for large scores exp is infinite, and ∞/∞ is NaN.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    powers = torch.exp(scores)
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] weights_divided | Divides the weights by the root after the softmax: the rows no longer sum to 1 and are as sharp as before.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    weights = weights / query.shape[-1] ** 0.5
    return weights @ value, weights

# %% [wrong] unit_vectors | Normalises queries and keys to length 1 in place of dividing by √d_k: cosines, with which no map can become sharp.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)
    weights = F.softmax(scores, dim=-1)
    return weights.matmul(value), weights

# %% [right] log_sum_exp | Scales the query beforehand, and takes exp of the scores minus their logsumexp.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = torch.einsum("...td,...sd->...ts", query * query.size(-1) ** -0.5, key)
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return torch.einsum("...ts,...sd->...td", weights, value), weights
