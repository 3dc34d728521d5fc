# %% [wrong] width_hard_coded | divides by the root of 128, the width of this training, instead of that of d_k: the gate is passed, but it is wrong for every other width
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / 128**0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights


# %% [wrong] width_of_the_values | takes the width from the values, d_v, instead of d_k: the same in this training, wrong wherever the two differ
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d = value.size(-1)
    weights = torch.softmax(torch.einsum("...td,...sd->...ts", query, key) * d**-0.5, dim=-1)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights


# %% [wrong] both_divided | divides the query and the key each by the root of d_k, so the scores are divided by d_k in all: the maps are too even, the more so the wider the vectors
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    def shrink(x):
        return x / x.shape[-1] ** 0.5

    scores = shrink(query) @ shrink(key).mT
    stable = scores - scores.max(dim=-1, keepdim=True).values
    exponentials = stable.exp()
    weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
    return weights @ value, weights


# %% [wrong] standardised_scores | divides the scores by their measured standard deviation instead of the root of d_k: sizes look right at first, but the weights depend on all other queries, and a query can never become sharper by growing
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = torch.matmul(query, key.transpose(-1, -2))
    scores = scores / scores.std()
    scores = scores - scores.amax(-1, keepdim=True)
    weights = F.softmax(scores, -1)
    return torch.matmul(weights, value), weights


# %% [wrong] one_largest_for_all | the scale is mended, but the maximum is now taken over the whole tensor instead of each row: a row whose scores all lie far below it underflows to 0 / 0 and becomes NaN
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.exp(scores - scores.max())
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights


# %% [right] logsumexp | the log of the normaliser is subtracted inside the exponential; the scale goes to the keys
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = torch.einsum("...td,...sd->...ts", query, key.mul(key.shape[-1] ** -0.5))
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return torch.einsum("...ts,...sv->...tv", weights, value), weights
