# %% [wrong] groups_dealt_in_turn | Keys and values are multiplied by repeat, so head h looks at group h % G. Heads that stand beside each other should share, h // (H/G): of 4 heads, 0 and 1 look at group 0, and here 0 and 2 do.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads are no multiple of {G} groups")
    key = torch.cat([key] * (H // G), dim=-3)
    value = torch.cat([value] * (H // G), dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~(mask.unsqueeze(-3) if mask.ndim > 2 else mask), float("-inf"))
    return scores.softmax(-1) @ value

# %% [wrong] mask_without_room_for_heads | The mask is used as it comes. (T, S) fits, but with a batch (B, T, S) its scenes are lined up with the heads: it stops with an error, or with as many heads as scenes each head gets another scene's mask.
def grouped_attention(query, key, value, mask=None):
    H, G = query.size(-3), key.size(-3)
    if H % G != 0:
        raise ValueError("H is no multiple of G")
    k = key.repeat_interleave(H // G, dim=-3)
    v = value.repeat_interleave(H // G, dim=-3)
    scores = torch.einsum("...td,...sd->...ts", query, k) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("...ts,...sd->...td", weights, v)

# %% [wrong] axis_one_for_the_heads | The heads are expected at axis 1. With one batch axis that is right; without a batch (G, S, d) axis 1 is that of the keys, so every key comes twice, and the groups stay too few for the heads.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"H = {H} is no multiple of G = {G}")
    n_rep = H // G
    key, value = (x.repeat_interleave(n_rep, dim=1) for x in (key, value))
    scores = (query @ key.mT) * query.shape[-1] ** -0.5
    if mask is not None:
        mask = mask.unsqueeze(-3) if mask.dim() > 2 else mask
        scores = torch.where(mask, scores, torch.tensor(float("-inf"), dtype=scores.dtype, device=scores.device))
    return scores.softmax(dim=-1) @ value

# %% [wrong] asserts_instead_of_raising | Where H is no multiple of G an assert stops the program, which raises an AssertionError. The text asks for a ValueError; all else is right.
def grouped_attention(query, key, value, mask=None):
    heads, groups = query.shape[-3], key.shape[-3]
    assert heads % groups == 0, "heads must be a multiple of groups"
    index = torch.arange(heads, device=key.device) // (heads // groups)
    key, value = key.index_select(-3, index), value.index_select(-3, index)
    scores = query @ key.transpose(-1, -2) / key.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, -1) @ value

# %% [wrong] folded_queries_and_a_scrambled_mask | The heads of a group are laid behind one another as further queries, which saves the copies of the keys. But the mask is repeated row by row (repeat_interleave) where it should be repeated as a whole, so queries get the mask of other queries; without a mask all is right.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, T, d = query.shape[-3:]
    G = key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads, {G} groups")
    r = H // G
    folded = query.unflatten(-3, (G, r)).flatten(-3, -2)            # (..., G, r·T, d)
    scores = folded @ key.transpose(-2, -1) / d**0.5                # (..., G, r·T, S)
    if mask is not None:
        mask = mask.expand(*mask.shape[:-2], T, key.shape[-2])
        mask = mask.repeat_interleave(r, dim=-2)
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    out = scores.softmax(-1) @ value                                # (..., G, r·T, d_v)
    return out.unflatten(-2, (r, T)).flatten(-4, -3)

# %% [right] one_more_axis_and_no_copies | The queries get an axis for the group, keys and values one of length 1 beside it, and broadcasting does the sharing; the mask is added as a penalty.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    (H, T, d), (G, S, _) = query.shape[-3:], key.shape[-3:]
    share, rest = divmod(H, G)
    if rest:
        raise ValueError(f"{H} heads cannot be dealt out evenly to {G} groups")
    asked = query.unflatten(-3, (G, share)) * d**-0.5  # (..., G, share, T, d)
    scores = torch.matmul(asked, key.unsqueeze(-3).mT)  # (..., G, share, T, S)
    if mask is not None:
        penalty = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device).masked_fill(~mask, -torch.inf)
        scores = scores + (penalty[..., None, None, :, :] if mask.ndim > 2 else penalty)
    weights = torch.exp(torch.log_softmax(scores, dim=-1))
    return torch.matmul(weights, value.unsqueeze(-3)).flatten(-4, -3)
