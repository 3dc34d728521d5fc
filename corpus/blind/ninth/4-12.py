# %% [wrong] groups_come_round_again | The keys are repeated as a block, so head h gets group h % G. Heads that stand beside each other should share, h // (H/G), as repeat_interleave does. With 4 heads and 2 groups, head 1 looks at group 1.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads, {G} groups")
    k = torch.cat([key] * (H // G), dim=-3)
    v = torch.cat([value] * (H // G), dim=-3)
    scores = query @ k.mT / query.shape[-1] ** 0.5
    if mask is not None:
        mask = mask if mask.ndim <= 2 else mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ v

# %% [wrong] head_over_number_of_groups | Head h looks at group h // G. It should be h // (H/G). With 4 heads and 2 groups it is the same; with 6 heads and 3 groups heads share wrongly, and with 8 and 2 the index runs out.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    outputs = []
    for h in range(H):
        group = h // G
        scores = query[..., h, :, :] @ key[..., group, :, :].transpose(-2, -1) / query.shape[-1] ** 0.5
        if mask is not None:
            scores = torch.where(mask, scores, -torch.inf)
        outputs.append(F.softmax(scores, dim=-1) @ value[..., group, :, :])
    return torch.stack(outputs, dim=-3)

# %% [wrong] check_turned_round | It is asked whether G is a multiple of H. It should be asked whether H is a multiple of G. Fewer groups than heads, which is what the function is for, end in a ValueError.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    heads, groups = query.size(-3), key.size(-3)
    if groups % heads:
        raise ValueError(f"H = {heads} is no multiple of G = {groups}")
    share = heads // groups
    key, value = (x.repeat_interleave(share, dim=-3) for x in (key, value))
    scores = torch.einsum("...td,...sd->...ts", query, key) * query.size(-1) ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~(mask[..., None, :, :] if mask.ndim > 2 else mask), -torch.inf)
    return torch.einsum("...ts,...sv->...tv", scores.softmax(dim=-1), value)

# %% [wrong] fused_kernel_all_the_same | The attention is done by F.scaled_dot_product_attention. It should be written without it. The numbers are right.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("the heads cannot be grouped")
    if mask is not None and mask.ndim > 2:
        mask = mask.unsqueeze(-3)
    key, value = key.repeat_interleave(H // G, -3), value.repeat_interleave(H // G, -3)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)

# %% [wrong] each_row_of_the_mask_doubled | The heads of a group are laid one below the other, as R · T queries, and the mask gets each row R times in succession. It should be the whole mask R times. Queries get the rows of other queries.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, T, d = query.shape[-3:]
    G, S = key.shape[-3:-1]
    if H % G:
        raise ValueError(f"H = {H}, G = {G}")
    R = H // G
    stacked = query.unflatten(-3, (G, R)).flatten(-3, -2)
    scores = stacked @ key.transpose(-1, -2) / d**0.5
    if mask is not None:
        full = mask.expand(*mask.shape[:-2], T, S).repeat_interleave(R, dim=-2)
        full = full.unsqueeze(-3) if full.ndim > 2 else full
        scores = scores.masked_fill(~full, float("-inf"))
    out = scores.softmax(-1) @ value
    return out.unflatten(-2, (R, T)).flatten(-4, -3)

# %% [wrong] masked_after_the_softmax | The mask sets weights to 0 after the softmax. It should set scores to −∞ before it. The weights of a query that may not look everywhere sum to less than 1, and its output is too small.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} is no multiple of {G}")
    of = torch.arange(H, device=key.device) // (H // G)
    k, v = key.index_select(-3, of), value.index_select(-3, of)
    weights = torch.softmax((query @ k.mT).div(query.shape[-1] ** 0.5), -1)
    if mask is not None:
        weights = weights * (mask.unsqueeze(-3) if mask.dim() > 2 else mask)
    return weights @ v

# %% [right] groups_as_an_axis_of_their_own | No keys are repeated: queries get an axis (G, R), and einsum lets the groups' keys serve all R; the mask is additive.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    R, rest = divmod(H, G)
    if rest:
        raise ValueError(f"H = {H} is no multiple of G = {G}")
    scores = torch.einsum("...grtd,...gsd->...grts", query.unflatten(-3, (G, R)), key) / query.shape[-1] ** 0.5
    if mask is not None:
        closed = torch.zeros(mask.shape, dtype=scores.dtype, device=scores.device).masked_fill(~mask, float("-inf"))
        scores = scores + (closed if mask.ndim <= 2 else closed[..., None, None, :, :])
    grown = (scores - scores.amax(-1, keepdim=True)).exp()
    out = torch.einsum("...grts,...gsv->...grtv", grown / grown.sum(-1, keepdim=True), value)
    return out.flatten(-4, -3)
