# %% [wrong] repeat_like_tiles | `repeat` lays the groups behind each other, 0 1 0 1; heads that stand beside each other must share, 0 0 1 1.
def grouped_attention(query, key, value, mask=None):
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads, {G} groups")
    times = [1] * (key.ndim - 3) + [H // G, 1, 1]
    k, v = key.repeat(*times), value.repeat(*times)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~(mask.unsqueeze(-3) if mask.ndim > 2 else mask), float("-inf"))
    return scores.softmax(-1) @ v


# %% [wrong] batch_meets_heads | A mask with a batch, (B, T, S), gets no axis for the heads.
def grouped_attention(query, key, value, mask=None):
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = torch.einsum("...td,...sd->...ts", query, key) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, dim=-1) @ value


# %% [wrong] values_not_shared_out | Only the keys are repeated; the values keep G groups, which fits one group or as many as heads and no other number.
def grouped_attention(query, key, value, mask=None):
    heads, groups = query.size(-3), key.size(-3)
    if heads % groups:
        raise ValueError
    key = key.repeat_interleave(heads // groups, -3)
    s = query @ key.mT / query.size(-1) ** 0.5
    if mask is not None:
        m = mask if mask.dim() == 2 else mask.unsqueeze(-3)
        s = s.masked_fill(~m, float("-inf"))
    return s.softmax(dim=-1) @ value


# %% [wrong] no_error_for_odd_groups | Where H is no multiple of G nothing is raised: the last heads are sent to the last group.
def grouped_attention(query, key, value, mask=None):
    H, G = query.shape[-3], key.shape[-3]
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    group = [min(h // max(H // G, 1), G - 1) for h in range(H)]
    k, v = key[..., group, :, :], value[..., group, :, :]
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ v


# %% [wrong] remainder_of_the_head | Head h looks at group h % G in place of h // (H/G).
def grouped_attention(query, key, value, mask=None):
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("no multiple")
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    outputs = []
    for h in range(H):
        g = h % G
        scores = query[..., h:h + 1, :, :] @ key[..., g:g + 1, :, :].transpose(-2, -1)
        scores = scores / query.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        outputs.append(torch.softmax(scores, -1) @ value[..., g:g + 1, :, :])
    return torch.cat(outputs, dim=-3)


# %% [wrong] repeats_g_times | Each group is repeated G times in place of H/G times: right only where H = G².
def grouped_attention(query, key, value, mask=None):
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} % {G}")
    k = key.repeat_interleave(G, dim=-3)
    v = value.repeat_interleave(G, dim=-3)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        hidden = ~mask if mask.ndim <= 2 else ~mask.unsqueeze(-3)
        scores = scores.masked_fill(hidden, float("-inf"))
    return scores.softmax(-1) @ v


# %% [right] queries_in_groups | Copies no keys: the queries get two axes, groups and heads of a group, and einsum lets each group's keys serve its heads.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads cannot share {G} groups evenly")
    asked = query.unflatten(-3, (G, H // G)) / query.shape[-1] ** 0.5
    scores = torch.einsum("...grtd,...gsd->...grts", asked, key)
    if mask is not None:
        hidden = ~mask
        if mask.ndim > 2:
            hidden = hidden.unsqueeze(-3).unsqueeze(-3)
        scores = scores.masked_fill(hidden, -torch.inf)
    return torch.einsum("...grts,...gsv->...grtv", scores.softmax(dim=-1), value).flatten(-4, -3)
