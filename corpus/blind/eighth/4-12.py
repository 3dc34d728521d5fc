# %% [wrong] groups_dealt_like_cards | The groups are repeated as a whole, so head h looks at group h mod G; it should be h // (H/G), with repeat_interleave. With 4 heads and 2 groups heads 1 and 2 look at the wrong one.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads, {G} groups")
    which = torch.arange(H, device=key.device) % G
    key, value = key.index_select(-3, which), value.index_select(-3, which)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~(mask if mask.ndim < 3 else mask.unsqueeze(-3)), float("-inf"))
    return scores.softmax(-1) @ value

# %% [wrong] as_often_as_there_are_groups | Each group is repeated G times; it should be H // G times. Right by chance where H = G², as for 4 heads and 2 groups, and for one group, which broadcasts; else the number of heads does not fit.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups != 0:
        raise ValueError("heads must be a multiple of groups")
    key, value = (side.repeat_interleave(groups, dim=-3) for side in (key, value))
    scores = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
    if mask is not None:
        mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
        scores = torch.where(mask, scores, float("-inf"))
    return torch.softmax(scores, -1) @ value

# %% [wrong] groups_on_axis_one | Keys and values are repeated along dim=1; it should be -3. Right with one batch axis; without one the keys of a group are repeated in place of the groups.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    share, rest = divmod(query.shape[-3], key.shape[-3])
    if rest:
        raise ValueError(f"{query.shape[-3]} is no multiple of {key.shape[-3]}")
    key = torch.repeat_interleave(key, share, dim=1)
    value = torch.repeat_interleave(value, share, dim=1)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        allowed = mask if mask.ndim == 2 else mask.unsqueeze(-3)
        scores = scores.masked_fill(allowed.logical_not(), -torch.inf)
    return torch.softmax(scores, dim=-1) @ value

# %% [wrong] queries_of_a_group_averaged | The queries of a group are averaged, so that there are G heads; keys and values should be shared, and every head keep its query. The output has G heads in place of H.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H must be a multiple of G")
    query = query.unflatten(-3, (G, H // G)).mean(-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value

# %% [wrong] batch_meets_heads | The mask is used as it comes; one with a batch, (B, T, S), needs an axis for the heads, mask.unsqueeze(-3). Its batch meets the heads: an error, or, where B = H, the wrong keys are hidden without one.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads cannot share {G} groups")
    key, value = (side.repeat_interleave(H // G, dim=-3) for side in (key, value))
    scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ value

# %% [wrong] only_too_few_heads_raise | The ValueError comes only where there are fewer heads than groups; it should come wherever H is no multiple of G. 5 heads and 2 groups end in an error of another kind, about shapes.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H < G:
        raise ValueError("there are more groups than heads")
    per_group = H // G
    key, value = key.repeat_interleave(per_group, -3), value.repeat_interleave(per_group, -3)
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        over_heads = mask[..., None, :, :] if mask.ndim > 2 else mask
        scores = scores.masked_fill(~over_heads, float("-inf"))
    return scores.softmax(dim=-1) @ value

# %% [right] an_axis_for_those_who_share | Nothing is repeated: the heads are cut into (G, H/G), and keys and values broadcast over those who share them.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads do not fit into {G} groups evenly")
    asks = query.unflatten(-3, (G, H // G))  # (..., G, H/G, T, d)
    scores = asks @ key.unsqueeze(-3).transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        allowed = mask if mask.ndim < 3 else mask[..., None, None, :, :]
        scores = scores.masked_fill(~allowed, float("-inf"))
    seen = scores.softmax(dim=-1) @ value.unsqueeze(-3)
    return seen.flatten(-4, -3)
