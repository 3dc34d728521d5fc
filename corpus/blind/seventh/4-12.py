# %% [wrong] values_in_another_order | The keys are repeated with repeat_interleave, but the values with repeat, which lists the groups 0, 1, 0, 1; heads compare with one group's keys and read another group's values.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H must be a multiple of G")
    times = H // G
    k = key.repeat_interleave(times, dim=-3)
    v = value.repeat(*[1] * (value.ndim - 3), times, 1, 1)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~(mask.unsqueeze(-3) if mask.ndim > 2 else mask), float("-inf"))
    return scores.softmax(-1) @ v

# %% [wrong] divided_by_the_groups | The group of head h is taken as h // G instead of h // (H/G); that agrees only where H/G = G, otherwise heads get another group, or one that does not exist.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError(f"{H} heads, {G} groups")
    outputs = []
    for h in range(H):
        g = h // G
        scores = query[..., h, :, :] @ key[..., g, :, :].transpose(-2, -1) / query.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        outputs.append(scores.softmax(-1) @ value[..., g, :, :])
    return torch.stack(outputs, dim=-3)

# %% [wrong] queries_averaged | The queries of a group are averaged and asked once, and the answer is copied to all heads; the heads share keys and values, but each asks with its own query.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H is no multiple of G")
    q = query.unflatten(-3, (G, H // G)).mean(-3)  # (..., G, T, d)
    scores = q @ key.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
        scores = scores.masked_fill(~mask, -torch.inf)
    return (scores.softmax(-1) @ value).repeat_interleave(H // G, dim=-3)

# %% [wrong] groups_in_axis_one | Groups and heads are taken from axis 1, which is right with exactly one batch axis; for (G, S, d) without a batch axis 1 holds the keys. It should be −3.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[1], key.shape[1]
    if H % G:
        raise ValueError("number of heads must be a multiple of the number of groups")
    k = key.repeat_interleave(H // G, dim=1)
    v = value.repeat_interleave(H // G, dim=1)
    s = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~(mask if mask.ndim == 2 else mask.unsqueeze(-3)), -torch.inf)
    return s.softmax(dim=-1) @ v

# %% [wrong] mask_without_room_for_heads | A mask with a batch, (B, T, S), is laid on the scores (B, H, T, S) as it is, so batches meet heads: an error for B ≠ H, silently wrong for B = H. unsqueeze(-3) is missing.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H % G must be 0")
    key, value = (side.repeat_interleave(H // G, dim=-3) for side in (key, value))
    scores = torch.einsum("...td,...sd->...ts", query, key) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    return torch.einsum("...ts,...sv->...tv", scores.softmax(-1), value)

# %% [wrong] error_is_returned | Where H is no multiple of G, a ValueError is made and returned like a result; it must be raised.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        return ValueError("H must be a multiple of G")
    k = key.repeat_interleave(H // G, dim=-3)
    v = value.repeat_interleave(H // G, dim=-3)
    scores = query @ k.transpose(-2, -1) * query.shape[-1] ** -0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v

# %% [right] an_axis_for_the_group | nothing is repeated: the heads of a group become an axis of their own, and keys and values broadcast over it
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups:
        raise ValueError(f"{heads} heads cannot share {groups} groups evenly")
    asking = query.unflatten(-3, (groups, heads // groups))  # (..., G, H/G, T, d)
    scores = asking @ key.unsqueeze(-3).transpose(-2, -1) * query.shape[-1] ** -0.5
    if mask is not None:
        sight = mask[..., None, None, :, :] if mask.ndim > 2 else mask
        scores = scores.masked_fill(~sight, -torch.inf)
    return (scores.softmax(dim=-1) @ value.unsqueeze(-3)).flatten(-4, -3)
