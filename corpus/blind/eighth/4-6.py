# %% [wrong] root_of_the_values_width | The scores are divided by the root of the values' width d_v; it should be the width of query and key, d_k. The same in this training, where both are 128, and wrong elsewhere.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / value.shape[-1] ** 0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] made_for_128 | The scores are divided by √128, written as a number; it must be right for every d_k. The gate is passed, and with d_k = 4 the maps are far too even.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / 11.3137085  # the root of 128
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] divided_by_d_k_itself | The scores are divided by d_k; it should be its root. The maps are too even, from the first step on.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d_k = query.size(-1)
    scores = torch.einsum("...td,...sd->...ts", query, key) / d_k
    scores = scores - scores.max(dim=-1, keepdim=True).values
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] weights_divided | The weights are divided by the root, after the softmax; the scores should be, before it. The maps stay as sharp as they were, and their rows sum to 1/√d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    weights = weights / query.shape[-1] ** 0.5
    return weights @ value, weights

# %% [wrong] divided_by_their_spread | Each row of scores is divided by its own standard deviation; it should be by √d_k. Every map is equally sharp, the scores cannot grow while the model learns, and with one patch the weights are NaN.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1)
    scores = (scores - scores.amax(-1, keepdim=True)) / scores.std(-1, keepdim=True)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% [wrong] cosine_in_place_of_the_dot_product | Query and key are brought to length 1; they should keep their lengths, and the scores be divided by √d_k. No score can leave −1 … 1, so no map can become sharp.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [right] smaller_queries | The query is made smaller before the product, and the exponentials are taken of the difference to the logsumexp.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = (query * key.shape[-1] ** -0.5) @ key.transpose(-2, -1)
    weights = torch.exp(scores - scores.logsumexp(dim=-1, keepdim=True))
    return torch.matmul(weights, value), weights
