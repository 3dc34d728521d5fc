# %% [wrong] lengths_summed | the length of each head's vector is taken first and the lengths are summed over heads; heads that cancel each other then still count. Sum the vectors first
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    W = cross_attn.W_O.weight.unflatten(1, (H, -1))
    sent = torch.einsum("...shd,ohd->...hso", values, W)
    return (weights * sent.norm(dim=-1).unsqueeze(-2)).sum(-3)

# %% [wrong] rows_of_w_o | W_O.weight is cut by its rows (outputs) and not by its columns: the slice of head h is weight[h·d : (h+1)·d, :], which belongs to the output's numbers
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    heads = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (heads, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.unflatten(0, (heads, -1))  # (H, d_head, d_model)
    brought = v @ slices
    together = torch.einsum("...hts,...hso->...tso", weights, brought)
    return together.norm(dim=-1)

# %% [wrong] without_w_o | the values are not sent through W_O, so the lengths are those before the output projection; each head's slice of W_O is missing
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    values = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1)).transpose(-3, -2)
    # (…, H, T, S, d_head)
    parts = weights.unsqueeze(-1) * values.unsqueeze(-3)
    joined = parts.movedim(-4, -2).flatten(-2)
    return joined.norm(dim=-1)

# %% [wrong] weights_averaged_first | the weights are averaged over the heads before they meet the values, so a head that looks elsewhere lends its weight to another head's values
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    brings = cross_attn.W_O(cross_attn.W_V(image_tokens))  # (..., S, d_model)
    return weights.mean(-3) * brings.norm(dim=-1).unsqueeze(-2)

# %% [wrong] shares | each row is divided by its sum at the end, so that it looks like weights; the lengths themselves are asked
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    n = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (n, -1)).transpose(-3, -2)
    W_O = cross_attn.W_O.weight.unflatten(-1, (n, -1))
    out = torch.einsum("...hts,...hsd,ohd->...tso", weights, values, W_O).norm(dim=-1)
    return out / out.sum(-1, keepdim=True)

# %% [wrong] length_over_patches | the norm is taken over dim=-2, the patches, in place of the features: the result is (..., T, d_model) and no map at all
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    d = cross_attn.W_O.weight.shape[1] // cross_attn.num_heads
    values = cross_attn.W_V(image_tokens)
    total = 0
    for h in range(cross_attn.num_heads):
        block = slice(h * d, (h + 1) * d)
        sent = values[..., block] @ cross_attn.W_O.weight[:, block].T
        total = total + weights[..., h, :, :].unsqueeze(-1) * sent.unsqueeze(-3)
    return total.norm(dim=-2)

# %% [right] one_projection_of_joined_parts | each weight scales its head's numbers of the value, the heads stand side by side, and W_O is applied once to (..., T, S, d_model)
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    values = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1))  # (..., S, H, d_head)
    scaled = weights.movedim(-3, -1).unsqueeze(-1) * values.unsqueeze(-4)  # (..., T, S, H, d_head)
    return torch.linalg.vector_norm(cross_attn.W_O(scaled.flatten(-2)), dim=-1)
