# %% [right] logsumexp | right
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = torch.einsum("...td,...sd->...ts", query, key).div(key.size(-1) ** 0.5)
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return torch.einsum("...ts,...sv->...tv", weights, value), weights

# %% [wrong] divided_by_d_k | The scores are divided by d_k instead of its square root.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / d_k
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] fixed_width | The scale is that of the 128 numbers of this model, whatever d_k is.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / 128**0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] scale_of_number_of_keys | The scores are divided by the root of the number of keys, not of d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / key.shape[-2] ** 0.5
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] unit_vectors | Queries and keys are normalised to length 1 and then scaled (cosine scores) instead of scaling the scores.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    q = query / query.norm(dim=-1, keepdim=True)
    k = key / key.norm(dim=-1, keepdim=True)
    scores = q @ k.transpose(-2, -1) * query.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    return weights @ value, weights

# %% [wrong] standardised_scores | The scores are divided by their own standard deviation instead of the root of d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    scores = scores / scores.std(-1, keepdim=True).clamp(min=1e-6)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] value_width | The scale is taken from the value's width d_v, which need not be d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / value.shape[-1] ** 0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] normalised_over_queries | The softmax runs over the queries (dim -2) instead of the keys.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores - scores.amax(-2, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-2, keepdim=True)
    return weights @ value, weights

# %% [wrong] weights_scaled_afterwards | The root of d_k divides the weights after the softmax, not the scores before it.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    weights = weights / query.shape[-1] ** 0.5
    return weights @ value, weights

# %% [wrong] seen_only | Only what is seen is returned; the weights are forgotten.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    return weights @ value
