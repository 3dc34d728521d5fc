# %% [wrong] scale_for_width_128_only | The scores are always divided by the root of 128, the width of this one model. The divisor must be the root of the d_k at hand, query.shape[-1].
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / 128**0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights


# %% [wrong] divided_by_root_of_d_v | The scores are divided by the root of the values' width, which is right only where d_v equals d_k. It is queries and keys that are compared, so the divisor is the root of d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d = value.size(-1)
    similarity = torch.einsum("...td,...sd->...ts", query, key)
    weights = F.softmax(similarity / d**0.5, dim=-1)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights
