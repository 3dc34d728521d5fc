# %% [wrong] divided_by_d_k_itself | The scores are divided by d_k and not by its root. The maps are much too even, and with 128 numbers stay so for long; the scores should be divided by √d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / d_k
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] root_of_128_written_in | The scores are divided by the root of 128, the width of this model. Here that is right, but the text wants it right for every d_k.
def look_once(query, key, value):
    scores = query @ key.transpose(-2, -1)
    scores = scores / 128 ** 0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] divided_by_their_spread | The scores are divided by their own standard deviation, so that it is 1. For random queries and keys that is about √d_k, but it depends on the whole batch: a head can never become sure, and one scene changes the maps of another.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1)
    scores = scores / scores.std()          # 1 for every d_k
    scores = scores - scores.amax(-1, keepdim=True)
    e = scores.exp()
    weights = e / e.sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] root_of_the_values_width | The root is that of d_v, the width of the values. In this training it is the same as d_k; where they differ the scores are scaled by the wrong number.
def look_once(query, key, value):
    """Attention."""
    d = value.size(-1)
    weights = F.softmax(torch.einsum("...td,...sd->...ts", query, key) / d**0.5, dim=-1)
    return torch.einsum("...ts,...sd->...td", weights, value), weights

# %% [wrong] largest_no_longer_subtracted | The scaling came in, and the line that subtracts the largest score went out. That line was right: with large scores the exponentials overflow, and inf / inf gives NaN.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.exp()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% [right] query_scaled_and_logsumexp | The query is divided before the product, and the softmax is exp(scores − logsumexp), which cannot overflow either.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    shrunk = query.mul(query.size(-1) ** -0.5)
    scores = torch.matmul(shrunk, key.mT)
    weights = (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()
    return torch.matmul(weights, value), weights
