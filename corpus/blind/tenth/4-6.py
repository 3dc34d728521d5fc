# %% [wrong] divided_by_d_without_the_root | The scores are divided by d_k, without the root. The maps are then too even, and more so the wider the head is.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / query.shape[-1]
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] root_of_128_written_down | The scale is the root of 128, the width of this model, as a number in the code. It must be right for every d_k; for other widths it is not.
def look_once(query, key, value):
    scores = query @ key.transpose(-2, -1)
    scores = scores / 11.3137085
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% [wrong] root_of_the_number_of_keys | The scores are divided by the root of S, the number of keys (key.shape[-2]). The root of d_k, the last axis, is meant; where S is another number than d_k the weights differ.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d_k = key.shape[-2]
    scores = torch.einsum("...td,...sd->...ts", query, key) / d_k**0.5
    scores = scores - scores.max(dim=-1, keepdim=True).values
    e = scores.exp()
    weights = e / e.sum(-1, keepdim=True)
    return torch.einsum("...ts,...sd->...td", weights, value), weights

# %% [wrong] largest_score_no_longer_subtracted | The scale is right, but the line that subtracts the largest score has been taken out. For large scores the exponentials overflow, and the result is NaN.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scale = query.size(-1) ** -0.5
    scores = (query * scale) @ key.mT
    weights = scores.exp()
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] scaled_after_the_softmax | The weights are divided by the root of d_k, not the scores. They are as sharp as before, and sum to 1/√d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True) / d_k**0.5
    return weights @ value, weights

# %% [right] fourth_roots_and_logsumexp | Query and key are both divided by the fourth root of d_k, and the softmax is written with logsumexp, which subtracts the largest by itself.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    shrink = query.shape[-1] ** -0.25
    similar = torch.matmul(query * shrink, (key * shrink).transpose(-1, -2))
    weights = torch.exp(similar - similar.logsumexp(dim=-1, keepdim=True))
    return torch.matmul(weights, value), weights
