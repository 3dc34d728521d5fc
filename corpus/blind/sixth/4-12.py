# %% [wrong] tiled_groups | The groups are repeated as a whole (cat of copies: 0, 1, 0, 1), so head h looks at group h % G; heads beside each other should share, repeat_interleave
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads, {G} groups")
    key = torch.cat([key] * (H // G), dim=-3)
    value = torch.cat([value] * (H // G), dim=-3)
    s = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~(mask if mask.ndim < 3 else mask.unsqueeze(-3)), float("-inf"))
    return s.softmax(-1) @ value

# %% [wrong] no_value_error | The check that G divides H is missing: H // G is rounded down, and for 3 heads and 2 groups a RuntimeError about shapes comes out of the product instead of a ValueError
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    times = query.size(-3) // key.size(-3)
    k = key.repeat_interleave(times, dim=-3)
    v = value.repeat_interleave(times, dim=-3)
    scores = torch.einsum("...td,...sd->...ts", query, k) * query.size(-1) ** -0.5
    if mask is not None:
        allowed = mask.unsqueeze(-3) if mask.ndim > 2 else mask
        scores = scores.masked_fill(~allowed, float("-inf"))
    return torch.einsum("...ts,...sv->...tv", scores.softmax(dim=-1), v)

# %% [wrong] mask_meets_heads | The mask (B, T, S) gets no axis for the heads, so its batch is laid over the heads: an error, or for B = H another mask for each head
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    key, value = (x.repeat_interleave(H // G, dim=-3) for x in (key, value))
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, float("-inf")))
    return torch.softmax(scores, -1) @ value

# %% [wrong] repeated_G_times | Keys and values are repeated G times each instead of H // G, which fits only where H = G² (or G = 1): otherwise there are G² heads of keys for H heads of queries, and the product fails
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("groups do not divide heads")
    k, v = key.repeat_interleave(G, dim=-3), value.repeat_interleave(G, dim=-3)
    att = query @ k.mT * query.shape[-1] ** -0.5
    if mask is not None:
        mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
        att = att.masked_fill(mask.logical_not(), float("-inf"))
    return att.softmax(-1) @ v

# %% [wrong] mask_inverted | masked_fill hides where the mask is True (allowed, without ~), as in nn.MultiheadAttention; here True means may attend, so each query looks exactly where it must not
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H % G != 0")
    q = query.unflatten(-3, (G, H // G))      # (..., G, heads of a group, T, d)
    scores = torch.einsum("...grtd,...gsd->...grts", q, key) / query.shape[-1] ** 0.5
    if mask is not None:
        allowed = mask[..., None, None, :, :] if mask.ndim > 2 else mask
        scores = scores.masked_fill(allowed, float("-inf"))
    out = torch.einsum("...grts,...gsv->...grtv", scores.softmax(-1), value)
    return out.flatten(-4, -3)

# %% [wrong] queries_averaged | The queries of a group are averaged to one, and its result is given to all heads of the group: keys and values are to be shared, the queries are not
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"H = {H} is no multiple of G = {G}")
    q = query.unflatten(-3, (G, H // G)).mean(-3)
    s = q @ key.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~(mask.unsqueeze(-3) if mask.ndim > 2 else mask), float("-inf"))
    return (s.softmax(-1) @ value).repeat_interleave(H // G, dim=-3)

# %% [right] axis_for_groups | the heads get two axes, group and member; keys and values are never repeated
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    heads, groups = query.shape[-3], key.shape[-3]
    if heads % groups:
        raise ValueError(f"{heads} heads cannot share {groups} groups of keys evenly")
    members = query.unflatten(-3, (groups, heads // groups))  # (..., G, H/G, T, d)
    scores = torch.einsum("...gmtd,...gsd->...gmts", members, key) * query.shape[-1] ** -0.5
    if mask is not None:
        allowed = mask[..., None, None, :, :] if mask.ndim > 2 else mask
        scores = scores.masked_fill(~allowed, float("-inf"))
    mixed = torch.einsum("...gmts,...gsv->...gmtv", scores.softmax(dim=-1), value)
    return mixed.flatten(-4, -3)
