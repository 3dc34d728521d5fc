# %% [wrong] still_unscaled | The scores are still not divided by √d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    scores = query @ key.transpose(-2, -1)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights
# %% [wrong] divided_by_d | The scores are divided by d_k, not by its root.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    scores = query @ key.transpose(-2, -1) / query.shape[-1]
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights
# %% [wrong] fixed_width | The root of 128 is written down as a number, so it is right for this width alone.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    scores = query @ key.transpose(-2, -1) / 128**0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights
# %% [wrong] weights_scaled | The weights are divided after the softmax, not the scores before it.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    weights = weights / d_k**0.5
    return weights @ value, weights
# %% [wrong] scaled_by_keys | The root of the number of keys is used; shape[-2] is S, the width is shape[-1].
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    scores = query @ key.transpose(-2, -1) / key.shape[-2] ** 0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights
# %% [wrong] standardised | The scores are divided by their own standard deviation in place of √d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    scores = query @ key.transpose(-2, -1)
    scores = scores / scores.std()
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights
# %% [wrong] softmax_over_queries | The softmax runs over the queries: its axis is -2 and should be -1.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    scores = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-2)
    return weights @ value, weights
# %% [wrong] max_scaled_only | The largest score is divided by √d_k and the scores are not.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True) / query.shape[-1] ** 0.5
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights
# %% [wrong] both_scaled_and_scores | Query and key are each divided by √d_k, so the scores are divided by d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    root = query.shape[-1] ** 0.5
    query, key = query / root, key / root
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights
# %% [right] fourth_roots | Shares the scale between query and key, as a fourth root each, and uses logsumexp.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    share = key.size(-1) ** -0.25
    scores = (query * share) @ (key * share).mT
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return weights @ value, weights
# %% [right] einsum_rsqrt | Uses einsum for both products and torch.rsqrt for the scale.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Attention."""
    scale = torch.tensor(float(query.shape[-1]), dtype=query.dtype, device=query.device).rsqrt()
    weights = F.softmax(torch.einsum("...td,...sd->...ts", query, key) * scale, -1)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights
