# %% [wrong] divided_by_d_k | Divides by d_k instead of its root: the scores are too small now, and the maps too even.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / d_k
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights


# %% [wrong] root_of_128_written_out | The divisor is the number √128 of this one model. For every other d_k it is wrong, and the text asks for every d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = torch.einsum("...td,...sd->...ts", query, key) * 0.08838834764831845
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights


# %% [wrong] scaled_by_number_of_keys | Takes key.shape[-2], the number of patches S, for the width: divides by √S.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scale = key.shape[-2] ** -0.5
    logits = torch.matmul(query * scale, key.mT)
    weights = (logits - torch.logsumexp(logits, dim=-1, keepdim=True)).exp()
    return torch.matmul(weights, value), weights


# %% [wrong] scaled_after_the_exponential | Divides the exponentials by √d_k instead of the scores. The factor falls out in the normalisation, so nothing is changed at all.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    grown = scores.exp() / query.shape[-1] ** 0.5
    weights = grown / grown.sum(dim=-1, keepdim=True)
    return weights @ value, weights


# %% [wrong] weights_first | The right computation through the given masked_attention, but the pair is returned in the order weights, seen.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    seen, weights = masked_attention(query, key, value)
    return weights, seen


# %% [right] shares_of_the_scale | Query and key each get the fourth root of d_k; the softmax is written as sigmoid-free exp of log-softmax.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    quarter = query.shape[-1] ** 0.25
    scores = (query / quarter) @ (key / quarter).transpose(-1, -2)
    weights = F.log_softmax(scores, dim=-1).exp()
    return weights.matmul(value), weights
