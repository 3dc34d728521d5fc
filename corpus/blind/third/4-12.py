# %% [wrong] groups_in_turn | repeat lays the groups out as 0 1 0 1: head h looks at group h % G, and not at h // (H/G).
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("the heads cannot be shared out")
    key = torch.cat([key] * (H // G), dim=-3)
    value = torch.cat([value] * (H // G), dim=-3)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    return masked_attention(query, key, value, mask)[0]

# %% [wrong] keys_alone_are_shared_out | Repeats the keys for the heads, but takes the values with h % G.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError(f"{H} heads, {G} groups")
    key = key.repeat_interleave(H // G, dim=-3)
    value = torch.stack([value[..., h % G, :, :] for h in range(H)], dim=-3)
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~(mask if mask.ndim == 2 else mask.unsqueeze(-3)), -torch.inf)
    return scores.softmax(-1) @ value

# %% [wrong] batch_of_mask_meets_heads | A mask with a batch gets no axis for the heads.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H is no multiple of G")
    of_head = torch.arange(H, device=query.device) // (H // G)
    k, v = key.index_select(-3, of_head), value.index_select(-3, of_head)
    scores = torch.einsum("...td,...sd->...ts", query, k) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
    return torch.einsum("...ts,...sd->...td", scores.softmax(dim=-1), v)

# %% [wrong] no_error_for_a_rest | Does not check that G divides H: the integer quotient leaves heads over, and what comes is another error, or nonsense, in place of a ValueError.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    share = H // G
    mask = mask.unsqueeze(-3) if mask is not None and mask.ndim > 2 else mask
    outputs = []
    for h in range(H):
        g = min(h // share, G - 1)
        one = masked_attention(query[..., h : h + 1, :, :], key[..., g : g + 1, :, :], value[..., g : g + 1, :, :], mask)
        outputs.append(one[0])
    return torch.cat(outputs, dim=-3)

# %% [wrong] heads_are_axis_one | Repeats along axis 1, which is the groups only with exactly one batch axis.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    times, rest = divmod(query.shape[1], key.shape[1])
    if rest:
        raise ValueError("heads and groups do not fit")
    key, value = key.repeat_interleave(times, dim=1), value.repeat_interleave(times, dim=1)
    if mask is not None and mask.ndim > 2:
        mask = mask[..., None, :, :]
    output, _ = masked_attention(query, key, value, mask)
    return output

# %% [wrong] queries_averaged | Averages the queries of the heads that share: the output has G heads in place of H.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{G} does not divide {H}")
    shared = query.unflatten(-3, (G, H // G)).mean(dim=-3)
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    return masked_attention(shared, key, value, mask)[0]

# %% [right] queries_in_an_axis_of_their_own | Splits the heads of the queries into (G, H/G), and lets keys and values broadcast; nothing is repeated.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads cannot share {G} groups evenly")
    asked = query.unflatten(-3, (G, H // G))  # (..., G, H/G, T, d)
    scores = torch.einsum("...gmtd,...gsd->...gmts", asked, key) / query.shape[-1] ** 0.5
    if mask is not None:
        allowed = mask if mask.ndim <= 2 else mask.unsqueeze(-3).unsqueeze(-3)
        scores = scores.masked_fill(allowed.logical_not(), -torch.inf)
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    output = torch.einsum("...gmts,...gsv->...gmtv", powers, value) / powers.sum(-1, keepdim=True)
    return output.flatten(-4, -3)
