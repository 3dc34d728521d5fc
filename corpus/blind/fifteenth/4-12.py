# %% [wrong] groups_dealt_out_in_turn | The groups are repeated as a whole, so head h looks at group h % G. Heads beside each other share: repeat each group H/G times before the next one comes, as repeat_interleave does.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    H, G = query.shape[-3], key.shape[-3]
    if H % G:
        raise ValueError(f"{H} heads cannot share {G} groups")
    key = torch.cat([key] * (H // G), dim=-3)
    value = torch.cat([value] * (H // G), dim=-3)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if mask.ndim > 2:
            mask = mask.unsqueeze(-3)
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ value


# %% [wrong] masked_scores_become_zero | Hidden keys get a score of 0, and the softmax still gives them weight. Their score must be minus infinity, so that their weight is 0.
def grouped_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    num_heads, num_groups = query.size(-3), key.size(-3)
    if num_heads % num_groups != 0:
        raise ValueError("H must be a multiple of G")
    each = num_heads // num_groups
    outputs = []
    for head in range(num_heads):
        q = query[..., head, :, :]
        k = key[..., head // each, :, :]
        v = value[..., head // each, :, :]
        scores = torch.einsum("...td,...sd->...ts", q, k) / q.size(-1) ** 0.5
        if mask is not None:
            scores = scores * mask
        outputs.append(torch.softmax(scores, dim=-1) @ v)
    return torch.stack(outputs, dim=-3)
