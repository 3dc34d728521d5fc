# %% [wrong] root_of_128 | The scores are divided by the root of 128, the width of this model. It must be right for every d_k. With other widths the weights are too even or too sharp.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / 128**0.5
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] root_rounded_down | The root of d_k is taken as a whole number. It should stay a fraction. For 4, 16 or 64 it is right; for 128 the scores are divided by 11 in place of 11.31.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    import math

    scale = math.isqrt(query.shape[-1])
    weights = torch.softmax(torch.einsum("...td,...sd->...ts", query, key) / scale, dim=-1)
    return torch.einsum("...ts,...sd->...td", weights, value), weights

# %% [wrong] only_the_largest_is_divided | The division stands behind the largest score, and binds tighter than the minus. The whole difference should be divided. Only the shift changes, the weights are as sharp as before.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d_k = query.shape[-1]
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True) / d_k**0.5
    grown = scores.exp()
    weights = grown / grown.sum(-1, keepdim=True)
    return weights @ value, weights

# %% [wrong] width_of_the_values | The root is that of d_v, the width of the values. It should be d_k, the width of queries and keys. Where the two are equal it is right.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    d = value.size(-1)
    attn = F.softmax(query.matmul(key.mT) * d**-0.5, dim=-1)
    return attn.matmul(value), attn

# %% [wrong] vectors_of_length_one | Queries and keys are brought to length 1, so that scores stay small. They should keep their lengths, and the scores be divided by √d_k. Scores stay between −1 and 1, and the map can never become sharp.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)
    weights = scores.softmax(-1)
    return weights @ value, weights

# %% [wrong] weights_divided_after_the_softmax | The division by √d_k comes after the softmax. It should come before. The map is as sharp as it was, and its rows sum to 1/√d_k.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    weights = weights / query.shape[-1] ** 0.5
    return weights @ value, weights

# %% [right] fourth_roots_on_both_sides | Divides queries and keys by the fourth root of d_k each, and makes the weights with log_softmax.
def look_once(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    fourth_root = query.shape[-1] ** 0.25
    small_query, small_key = query / fourth_root, key / fourth_root
    weights = F.log_softmax((small_query.unsqueeze(-2) * small_key.unsqueeze(-3)).sum(-1), dim=-1).exp()
    return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2), weights
