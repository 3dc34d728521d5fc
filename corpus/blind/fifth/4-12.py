# %% [wrong] tiled_groups | key.repeat puts the groups one behind the other (0, 1, 0, 1), so head h looks at group h % G; heads beside each other should share (0, 0, 1, 1)
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H is no multiple of G")
    key = torch.cat([key] * (H // G), dim=-3)
    value = torch.cat([value] * (H // G), dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ value

# %% [wrong] mask_meets_heads | a mask with a batch gets no axis for the heads, so its batch is taken for heads: an error, or wrong in silence where B = H
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups != 0:
        raise ValueError(f"{heads} heads, {groups} groups")
    k = key.repeat_interleave(heads // groups, dim=-3)
    v = value.repeat_interleave(heads // groups, dim=-3)
    s = torch.einsum("...td,...sd->...ts", query, k) / query.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.softmax(s, dim=-1) @ v

# %% [wrong] no_error | there is no test whether G divides H: with 4 heads and 3 groups H // G = 1 and the product raises a RuntimeError (or broadcasts) in place of the ValueError
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    share = query.shape[-3] // key.shape[-3]
    key, value = key.repeat_interleave(share, -3), value.repeat_interleave(share, -3)
    scores = query @ key.mT * query.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~(mask if mask.ndim <= 2 else mask.unsqueeze(-3)), -torch.inf)
    return scores.softmax(dim=-1) @ value

# %% [wrong] queries_averaged | the queries of a group are averaged and asked once, so the output has G heads and not H
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("heads and groups")
    asked = query.unflatten(-3, (G, H // G)).mean(-3)
    scores = asked @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~(mask.unsqueeze(-3) if mask.ndim > 2 else mask), float("-inf"))
    return scores.softmax(-1) @ value

# %% [wrong] keys_repeated_along_places | repeat_interleave runs over dim=-2, the keys, in place of the groups: every key stands there several times, and the number of heads still does not fit
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H % G")
    k = key.repeat_interleave(H // G, dim=-2)
    v = value.repeat_interleave(H // G, dim=-2)
    scores = query @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
    if mask is not None:
        mask = mask if mask.ndim == 2 else mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ v

# %% [wrong] values_of_group_zero | the loop takes each head's keys from its group h // (H/G), but its values always from group 0
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("no multiple")
    outputs = []
    for h in range(H):
        g = h // (H // G)
        scores = query[..., h, :, :] @ key[..., g, :, :].transpose(-2, -1) / query.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        outputs.append(torch.softmax(scores, -1) @ value[..., 0, :, :])
    return torch.stack(outputs, dim=-3)

# %% [right] group_axis | no key is repeated: the queries get an axis (G, H/G), and keys and values broadcast over the heads of a group
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups:
        raise ValueError(f"{heads} heads cannot share {groups} groups evenly")
    asked = query.unflatten(-3, (groups, heads // groups))
    scores = asked @ key.unsqueeze(-3).transpose(-2, -1) * query.shape[-1] ** -0.5
    if mask is not None:
        allowed = mask[..., None, None, :, :] if mask.ndim > 2 else mask
        scores = scores.masked_fill(allowed.logical_not(), -torch.inf)
    return (scores.softmax(dim=-1) @ value.unsqueeze(-3)).flatten(-4, -3)
