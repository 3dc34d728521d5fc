# %% [wrong] lengths_first | Takes the length of every head's vector and sums these; the heads' vectors are to be summed first, since they may cancel each other.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    slices = cross_attn.W_O.weight.unflatten(-1, (H, -1))
    sent = torch.einsum("...shd,ohd->...hso", values, slices)
    return (weights * sent.norm(dim=-1).unsqueeze(-2)).sum(-3)

# %% [wrong] rows_of_w_o | Gives each head its rows of W_O.weight in place of its columns.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    H = weights.shape[-3]
    value = cross_attn.W_V(image_tokens)
    d = value.shape[-1] // H
    total = 0
    for h in range(H):
        part = slice(h * d, (h + 1) * d)
        sent = value[..., part] @ cross_attn.W_O.weight[part, :]
        total = total + weights[..., h, :, :, None] * sent[..., None, :, :]
    return total.norm(dim=-1)

# %% [wrong] without_w_o | Leaves W_O out: the length of the joined head values, as if nothing mixed them.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    values = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1))
    brought = torch.einsum("...hts,...shd->...tshd", weights, values)
    return brought.flatten(-2).norm(dim=-1)

# %% [wrong] norm_over_patches | Takes the length over the wrong axis, the patches in place of the features: the result is (..., T, d_model).
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    o = cross_attn.W_O.weight.unflatten(-1, (H, -1))
    c = torch.einsum("...hts,...shd,ohd->...tso", weights, v, o)
    return torch.linalg.vector_norm(c, dim=-2)

# %% [wrong] interleaved_heads | Cuts the values as (d_head, H) in place of (H, d_head): a head gets features of all the others.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    d_head = cross_attn.W_V.out_features // H
    values = cross_attn.W_V(image_tokens).unflatten(-1, (d_head, H)).movedim(-1, -3)  # (..., H, S, d_head)
    columns = cross_attn.W_O.weight.unflatten(-1, (H, d_head)).transpose(0, 1)  # (H, d_model, d_head)
    sent = values @ columns.transpose(-1, -2)
    return torch.einsum("...hts,...hso->...tso", weights, sent).norm(dim=-1)

# %% [wrong] mean_map_times_value | Averages the weights over the heads first and multiplies by the length of the whole projected value.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    lengths = cross_attn.W_O(cross_attn.W_V(image_tokens)).norm(dim=-1)
    return weights.mean(dim=-3) * lengths.unsqueeze(-2)

# %% [right] scaled_columns_through_w_o | Spreads each head's weight over its d_head features, multiplies with the joined values, and sends that through W_O as a layer.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    joined = cross_attn.W_V(image_tokens)
    d_head = joined.shape[-1] // cross_attn.num_heads
    spread = weights.movedim(-3, -1).repeat_interleave(d_head, dim=-1)  # (..., T, S, d_model)
    added = cross_attn.W_O(spread * joined.unsqueeze(-3))
    return added.square().sum(-1).sqrt()
