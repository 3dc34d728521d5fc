# %% [right] extra_axis | right
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G != 0:
        raise ValueError(f"{H} heads cannot share {G} groups evenly")
    asked = query.unflatten(-3, (G, H // G))
    scores = torch.einsum("...grtd,...gsd->...grts", asked, key) * query.shape[-1] ** -0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask[..., None, None, :, :]
        scores = scores.masked_fill(~mask, -torch.inf)
    seen = torch.einsum("...grts,...gsv->...grtv", scores.softmax(-1), value)
    return seen.flatten(-4, -3)

# %% [wrong] groups_repeated_in_turn | repeat gives the groups in turn (0, 1, 0, 1) instead of repeat_interleave (0, 0, 1, 1).
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H must be a multiple of G")
    key = torch.cat([key] * (H // G), dim=-3)
    value = torch.cat([value] * (H // G), dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value

# %% [wrong] mask_inverted | The mask is used without ~, so exactly the allowed keys are hidden.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(mask, float("-inf"))
    return scores.softmax(dim=-1) @ value

# %% [wrong] no_scale | The scores are not divided by the root of d.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value

# %% [wrong] mask_without_head_axis | A mask with a batch gets no axis for the heads.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value

# %% [wrong] check_turned_round | The check is G % H instead of H % G, so it raises for every sharing of fewer groups than heads.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if G % H:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value

# %% [wrong] no_check | There is no ValueError: H // G rounds down and the matrix product fails with a RuntimeError.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value

# %% [wrong] values_not_repeated_alike | The keys are repeated per group but the values in turn, so a head looks with one group and takes from another.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat(*[1] * (value.ndim - 3), H // G, 1, 1)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value

# %% [wrong] group_outputs_only | The queries are averaged over the heads of a group, so all heads of a group give the same output.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H must be a multiple of G")
    query = query.unflatten(-3, (G, H // G)).mean(-3, keepdim=True).expand(*query.shape[:-3], G, H // G, *query.shape[-2:]).flatten(-4, -3)
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value

# %% [wrong] softmax_over_queries | The softmax runs over the queries (dim -2) instead of the keys.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-2) @ value

# %% [wrong] multiplied_mask | The mask is multiplied onto the weights after the softmax, so the rows no longer sum to 1.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError("H must be a multiple of G")
    key = key.repeat_interleave(H // G, dim=-3)
    value = value.repeat_interleave(H // G, dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        return (scores.softmax(dim=-1) * mask) @ value
    return scores.softmax(dim=-1) @ value
