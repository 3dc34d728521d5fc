# %% [wrong] root_of_128 | The scores are divided by √128, the width of this model, as a fixed number; it must be right for every d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / 128**0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] scaled_after_the_softmax | The weights are divided by the root of d_k, and not the scores before the softmax; the maps stay as sharp as they were, and sum to 1/√d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1) / query.shape[-1] ** 0.5
    return weights @ value, weights

# %% [wrong] largest_of_the_column | amax runs along the queries (−2), so each key gets another number subtracted, which changes the weights; along the keys (−1) it is the same number for a whole row and cancels.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d_k = key.shape[-1]
    scores = query @ key.transpose(-2, -1) / d_k**0.5
    scores = scores - scores.amax(-2, keepdim=True)
    e = scores.exp()
    weights = e / e.sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] cut_to_a_range | The scores are cut to −5…5 instead of divided by √d_k; large scores become equal, get no gradient, and small ones stay too large.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = (query @ key.transpose(-2, -1)).clamp(-5, 5)  # not too sure at the start
    weights = scores.softmax(-1)
    return weights @ value, weights

# %% [wrong] root_of_the_patches | The scores are divided by the root of the number of patches S (key.shape[-2]); the sum in a dot product runs over d_k, key.shape[-1].
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    n_keys = key.shape[-2]
    scores = torch.einsum("...td,...sd->...ts", query, key) / n_keys**0.5
    weights = F.softmax(scores, dim=-1)
    return weights @ value, weights

# %% [wrong] lengths_taken_out | Queries and keys are brought to length 1, so the scores are cosines in −1…1 whatever d_k is; no map can become sharp any more, and it is another attention.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    q = F.normalize(query, dim=-1)
    k = F.normalize(key, dim=-1)
    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)
    return weights @ value, weights

# %% [right] logarithm_of_the_weights | subtracts the logarithm of the sum of exponentials, so that exp gives the weights at once
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-2, -1)
    weights = (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
    return weights @ value, weights
