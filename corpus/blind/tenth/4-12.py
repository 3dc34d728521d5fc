# %% [wrong] heads_take_turns | The groups are repeated as a whole (repeat), so head h looks at group h % G. Heads beside each other share: head h looks at group h // (H/G); for 4 heads and 2 groups, heads 1 and 2 get the wrong group.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads, {G} groups")
    key = torch.cat([key] * (H // G), dim=-3)
    value = torch.cat([value] * (H // G), dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ value

# %% [wrong] zero_times_minus_infinity | The mask is added as (~mask) times −∞. Where a query may look, that is 0 · −∞ = NaN, so everything is NaN as soon as there is a mask.
def grouped_attention(query, key, value, mask=None):
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H is not a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / np.sqrt(query.shape[-1])
    if mask is not None:
        additive = (~mask).to(scores.dtype) * float("-inf")
        scores = scores + (additive if mask.ndim <= 2 else additive.unsqueeze(-3))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value

# %% [wrong] fused_kernel_with_gqa | The fused kernel does it all, with enable_gqa=True. The numbers are right, but the text asks for one's own attention, without F.scaled_dot_product_attention.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    if query.size(-3) % key.size(-3) != 0:
        raise ValueError("the number of heads must be a multiple of the number of groups")
    if mask is not None and mask.dim() > 2:
        mask = mask.unsqueeze(-3)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)

# %% [wrong] multiple_checked_the_wrong_way_round | The check asks whether G is a multiple of H. With 4 heads and 2 groups, which is allowed, it raises a ValueError.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if G % H:
        raise ValueError(f"{H} is no multiple of {G}")
    per_group = H // G
    heads = [h // per_group for h in range(H)]
    key, value = key[..., heads, :, :], value[..., heads, :, :]
    scores = torch.einsum("...htd,...hsd->...hts", query, key) * query.shape[-1] ** -0.5
    if mask is not None:
        mask = mask if mask.ndim < 3 else mask[..., None, :, :]
        scores = torch.where(mask, scores, -torch.inf)
    return torch.einsum("...hts,...hsd->...htd", scores.softmax(-1), value)

# %% [wrong] batch_mask_meets_the_heads | Queries are sorted into groups, (..., G, H/G, T, d), and the mask with a batch gets one axis more for that, where it needs two. (B, 1, T, S) then meets the groups in place of the batch: a crash, or the mask of another scene.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H is no multiple of G")
    q = query.unflatten(-3, (G, H // G))
    scores = q @ key.unsqueeze(-3).transpose(-2, -1) / query.shape[-1] ** 0.5  # (..., G, H/G, T, S)
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(mask.logical_not(), -torch.inf)
    out = scores.softmax(dim=-1) @ value.unsqueeze(-3)
    return out.flatten(-4, -3)

# %% [right] queries_of_a_group_in_one_row | All queries of a group are laid behind each other, (..., G, H/G · T, d), so no key is copied; the mask is repeated along them.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    heads, asking, width = query.shape[-3:]
    groups, offered = key.shape[-3], key.shape[-2]
    share, left = divmod(heads, groups)
    if left:
        raise ValueError(f"{heads} heads cannot be shared out evenly among {groups} groups")
    together = query.unflatten(-3, (groups, share)).flatten(-3, -2)  # (..., G, share · T, d)
    scores = torch.matmul(together, key.mT).div(width**0.5).unflatten(-2, (share, asking))
    if mask is not None:
        full = torch.broadcast_to(mask, (*query.shape[:-3], asking, offered))
        scores = scores.masked_fill(full[..., None, None, :, :].logical_not(), -torch.inf)
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    weights = powers / powers.sum(-1, keepdim=True)
    seen = torch.matmul(weights.flatten(-3, -2), value)
    return seen.unflatten(-2, (share, asking)).flatten(-4, -3)
