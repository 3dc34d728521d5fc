# %% [wrong] repeat_instead_of_interleave | Repeats the groups as blocks (0, 1, 0, 1) so head h looks at group h % G. Heads that stand beside each other should share (0, 0, 1, 1).
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads, {G} groups")
    key = torch.cat([key] * (H // G), dim=-3)
    value = torch.cat([value] * (H // G), dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        mask = mask.unsqueeze(-3) if mask.ndim > 2 else mask
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ value


# %% [wrong] check_the_wrong_way_round | Checks G % H instead of H % G. A rightful H = 4, G = 2 raises a ValueError, because 2 % 4 is not 0.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    heads, groups = query.shape[-3], key.shape[-3]
    if groups % heads != 0:
        raise ValueError("heads must be a multiple of groups")
    index = torch.arange(heads, device=key.device) // (heads // groups)
    k, v = key.index_select(-3, index), value.index_select(-3, index)
    logits = torch.einsum("...td,...sd->...ts", query, k) * query.shape[-1] ** -0.5
    if mask is not None:
        logits = torch.where(mask[..., None, :, :] if mask.ndim > 2 else mask, logits, -torch.inf)
    return torch.einsum("...ts,...sv->...tv", logits.softmax(-1), v)


# %% [wrong] no_value_error | Nothing is checked: the loop takes min(h // (H // G), G − 1), so with 5 heads and 2 groups it quietly answers instead of raising.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.size(-3), key.size(-3)
    outputs = []
    for h in range(H):
        g = min(h // max(H // G, 1), G - 1)
        q, k, v = query[..., h, :, :], key[..., g, :, :], value[..., g, :, :]
        s = q @ k.mT / q.size(-1) ** 0.5
        if mask is not None:
            s = s.masked_fill(mask.logical_not(), -torch.inf)
        outputs.append(torch.softmax(s, -1) @ v)
    return torch.stack(outputs, dim=-3)


# %% [wrong] mask_never_used | Takes the mask as an argument and does not use it: every query sees all keys.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    share, rest = divmod(H, G)
    if rest:
        raise ValueError(f"{H} is no multiple of {G}")
    q = query.unflatten(-3, (G, share))
    scores = q @ key.unsqueeze(-3).transpose(-2, -1)
    scores = scores / q.shape[-1] ** 0.5
    weights = F.softmax(scores, dim=-1)
    return (weights @ value.unsqueeze(-3)).flatten(-4, -3)


# %% [wrong] batched_mask_meets_heads | A mask with a batch is not given an axis for the heads: (B, T, S) is broadcast against (B, H, T, S) from the right, so B meets H. It raises, or, where B = H, each head gets another scene's mask.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    if query.shape[-3] % key.shape[-3]:
        raise ValueError("H is no multiple of G")

    def for_all(x):
        return x.repeat_interleave(query.shape[-3] // key.shape[-3], dim=-3)

    scores = torch.matmul(query, for_all(key).transpose(-1, -2)).div(query.shape[-1] ** 0.5)
    if mask is not None:
        scores = scores + torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
    return torch.matmul(torch.softmax(scores, dim=-1), for_all(value))


# %% [right] heads_of_a_group_as_rows | The heads of a group are laid behind each other as rows of one long query, (..., G, H/G · T, d): keys are never copied. Exponentials are normalised by hand.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    (H, T, d), (G, S) = query.shape[-3:], key.shape[-3:-1]
    if H % G:
        raise ValueError(f"H = {H} is no multiple of G = {G}")
    long = (query * d**-0.5).unflatten(-3, (G, H // G)).flatten(-3, -2)
    scores = (long @ key.transpose(-1, -2)).unflatten(-2, (H // G, T))  # (..., G, H/G, T, S)
    if mask is not None:
        allowed = mask if mask.ndim < 3 else mask[..., None, None, :, :]
        scores = scores.masked_fill(allowed.logical_not(), float("-inf"))
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    seen = weights.flatten(-3, -2) @ value
    return seen.unflatten(-2, (H // G, T)).flatten(-4, -3)
