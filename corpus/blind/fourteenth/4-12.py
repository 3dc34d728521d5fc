# %% [wrong] groups_and_members_exchanged | The heads are cut into (H/G, G) and not (G, H/G), so head h looks at group h mod G and neighbours do not share.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads cannot share {G} groups")
    asked = query.unflatten(-3, (H // G, G))
    scores = asked @ key.unsqueeze(-4).transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        mask = mask if mask.ndim <= 2 else mask.unsqueeze(-3).unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return (scores.softmax(-1) @ value.unsqueeze(-4)).flatten(-4, -3)
