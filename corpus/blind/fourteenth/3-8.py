# %% [wrong] absolute_numbers_summed | The vector's absolute numbers are added up (the 1-norm) instead of its Euclidean length.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    heads = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (heads, -1))  # (..., S, H, d_head)
    slices = cross_attn.W_O.weight.unflatten(1, (heads, -1))  # (d_model, H, d_head)
    through = torch.einsum("...shd,mhd->...hsm", values, slices)
    added = torch.einsum("...hts,...hsm->...tsm", weights, through)
    return added.abs().sum(-1)

# %% [wrong] scaled_to_shares | Each row is divided by its sum in the end, so the map no longer says how much each patch adds.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    W = cross_attn.W_O.weight.unflatten(1, (H, -1)).permute(1, 2, 0)  # (H, d_head, d_model)
    added = torch.einsum("...hts,...hsm->...tsm", weights, values @ W)
    lengths = added.norm(dim=-1)
    return lengths / lengths.sum(-1, keepdim=True)

# %% [wrong] before_the_output_projection | W_O is left out: the lengths are those of the weighted values as they stand side by side, before the heads are mixed.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    values = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1)).transpose(-3, -2)
    brought = weights.unsqueeze(-1) * values.unsqueeze(-3)  # (..., H, T, S, d_head)
    together = brought.movedim(-4, -2).flatten(-2)  # (..., T, S, d_model)
    return torch.linalg.vector_norm(together, dim=-1)
