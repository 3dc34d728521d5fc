# %% [wrong] groups_in_turn | repeats the groups one after the other, so head h looks at group h % G instead of h // (H/G): heads beside each other do not share
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads are no multiple of {G} groups")
    key = torch.cat([key] * (H // G), dim=-3)
    value = torch.cat([value] * (H // G), dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~(mask if mask.ndim < 3 else mask.unsqueeze(-3)), float("-inf"))
    return scores.softmax(-1) @ value


# %% [wrong] divided_by_groups | computes the group of a head as h // G instead of h // (H/G): with 4 heads and 2 groups it is the same, with 8 heads and 2 groups there is no such group, and an IndexError comes
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.size(-3), key.size(-3)
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    outputs = []
    for h in range(H):
        g = h // G
        k, v = key.select(-3, g), value.select(-3, g)
        s = query.select(-3, h) @ k.transpose(-2, -1) * k.size(-1) ** -0.5
        if mask is not None:
            s = torch.where(mask, s, float("-inf"))
        outputs.append(torch.softmax(s, -1) @ v)
    return torch.stack(outputs, dim=-3)


# %% [wrong] mask_without_head_axis | a mask with a batch gets no axis for the heads: (B, T, S) is laid against (B, H, T, S) with its batch on the heads, so it fails or masks heads by scene
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups:
        raise ValueError(f"{heads} is no multiple of {groups}")
    each = heads // groups
    index = torch.arange(heads, device=key.device) // each
    k, v = key.index_select(-3, index), value.index_select(-3, index)
    logits = torch.einsum("...htd,...hsd->...hts", query, k) / k.shape[-1] ** 0.5
    if mask is not None:
        logits = logits.masked_fill(mask.logical_not(), -torch.inf)
    return torch.einsum("...hts,...hsv->...htv", logits.softmax(-1), v)


# %% [wrong] error_only_if_fewer | the check asks whether there are fewer heads than groups, not whether H is a multiple of G: 6 heads and 4 groups raise no ValueError (they fail elsewhere, with another error)
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    *lead, H, T, d = query.shape
    G = key.shape[-3]
    if H < G:
        raise ValueError("more groups than heads")
    q = query.reshape(*lead, G, H // G, T, d)
    scores = q @ key.unsqueeze(-3).transpose(-2, -1) / d**0.5  # (..., G, H/G, T, S)
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3).unsqueeze(-3)
        scores = scores.masked_fill(~mask, -torch.inf)
    seen = scores.softmax(-1) @ value.unsqueeze(-3)
    return seen.reshape(*lead, H, T, -1)


# %% [wrong] zeroed_scores | forbidden scores are set to 0 instead of -inf (the mask is multiplied on): exp(0) is 1, so what must not be seen keeps a share of the softmax
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G > 0:
        raise ValueError("heads cannot be split evenly")

    def for_heads(x):
        return x.repeat_interleave(H // G, dim=-3)

    scores = query @ for_heads(key).mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores * (mask.unsqueeze(-3) if mask.ndim > 2 else mask)
    return torch.softmax(scores, dim=-1) @ for_heads(value)


# %% [right] heads_beside_queries | folds the heads of a group into the axis of queries, so each group does one product; softmax by hand
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    *lead, H, T, d = query.shape
    G, S = key.shape[-3], key.shape[-2]
    if H % G:
        raise ValueError(f"{H} heads cannot be shared out among {G} groups")
    asking = query.reshape(*lead, G, H // G * T, d)  # the queries of all heads of a group, one behind the other
    scores = (asking @ key.transpose(-2, -1) * d**-0.5).unflatten(-2, (H // G, T))
    if mask is not None:
        mask = mask.expand(*torch.broadcast_shapes(mask.shape, (T, S))).unsqueeze(-3).unsqueeze(-3)
        scores = torch.where(mask, scores, -torch.inf)
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = weights / weights.sum(-1, keepdim=True)
    return (weights.flatten(-3, -2) @ value).reshape(*lead, H, T, value.shape[-1])
