# %% [wrong] repeat_not_interleave | The groups are repeated as a block, 0 1 0 1, so neighbouring heads do not share a group.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    key = torch.cat([key] * (H // G), dim=-3)
    value = torch.cat([value] * (H // G), dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value
# %% [wrong] repeats_g_times | Each group is repeated G times, where it must be H/G times.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(G, dim=-3)
    value = value.repeat_interleave(G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value
# %% [wrong] no_error | Where H is no multiple of G, no ValueError is raised.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value
# %% [wrong] unscaled | The scores are not divided by √d.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        if mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value
# %% [wrong] mask_inverted | The mask is inverted: what may be seen is hidden.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(mask, float("-inf"))
    return scores.softmax(dim=-1) @ value
# %% [wrong] no_axis_for_heads | A mask with a batch gets no axis for the heads, so its batch is taken for heads.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value
# %% [wrong] mask_forgotten | The mask is taken as an argument and never used.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return scores.softmax(dim=-1) @ value
# %% [wrong] value_not_repeated | Only the keys are repeated; the values keep G groups.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value
# %% [wrong] masked_after_softmax | The mask is multiplied onto the weights after the softmax, so the rows no longer sum to 1.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    weights = (query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5).softmax(dim=-1)
    if mask is not None:
        if mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        weights = weights * mask
    return weights @ value
# %% [right] groups_on_an_axis | Gives the queries an axis (G, H/G), and the keys an axis of 1: nothing is copied.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    heads, groups = query.size(-3), key.size(-3)
    per_group, rest = divmod(heads, groups)
    if rest:
        raise ValueError(f"{heads} heads cannot share {groups} groups")
    asking = query.unflatten(-3, (groups, per_group))
    scores = torch.einsum("...ghtd,...gsd->...ghts", asking, key) * query.size(-1) ** -0.5
    if mask is not None:
        allowed = mask if mask.ndim < 3 else mask[..., None, None, :, :]
        scores = scores + torch.zeros_like(scores).masked_fill(~allowed, -torch.inf)
    seen = torch.einsum("...ghts,...gsv->...ghtv", F.softmax(scores, -1), value)
    return seen.flatten(-4, -3)
# %% [right] head_by_head | Loops over the heads, each with its group's keys and values, and stacks the outputs.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention in which head h looks at the keys and values of group h // (H/G)."""
    if query.shape[-3] % key.shape[-3] > 0:
        raise ValueError("H is no multiple of G")
    share = query.shape[-3] // key.shape[-3]
    outputs = []
    for h in range(query.shape[-3]):
        k, v = key[..., h // share, :, :], value[..., h // share, :, :]
        scores = query[..., h, :, :] @ k.mT / torch.tensor(k.shape[-1], dtype=query.dtype).sqrt()
        if mask is not None:
            scores = torch.where(mask, scores, -torch.inf)
        exps = torch.exp(scores - scores.amax(-1, keepdim=True))
        outputs.append(exps @ v / exps.sum(-1, keepdim=True))
    return torch.stack(outputs, -3)
