# %% [wrong] length_before_sum | takes the length of each head's vector and adds the lengths: heads that cancel one another still count; the vectors should be summed first
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)  # (..., H, S, d_head)
    slices = cross_attn.W_O.weight.unflatten(1, (H, -1)).permute(1, 2, 0)  # (H, d_head, d_model)
    sent = values @ slices  # (..., H, S, d_model)
    lengths = sent.norm(dim=-1)
    return (weights * lengths.unsqueeze(-2)).sum(dim=-3)


# %% [wrong] rows_of_w_o | cuts W_O.weight along its rows (outputs) instead of its columns (inputs): each head's values go through a part that is not theirs
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    H = cross_attn.num_heads
    V = cross_attn.W_V(image_tokens)
    d_head = V.shape[-1] // H
    total = 0
    for h in range(H):
        part = slice(h * d_head, (h + 1) * d_head)
        through = V[..., part] @ cross_attn.W_O.weight[part, :]
        total = total + weights[..., h, :, :].unsqueeze(-1) * through.unsqueeze(-3)
    return total.norm(dim=-1)


# %% [wrong] without_w_o | leaves W_O out: it takes the length of the heads' weighted values side by side, which cannot cancel, and not of what the output gets
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    values = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1)).movedim(-2, -3)
    squares = torch.einsum("...hts,...hs->...ts", weights**2, (values**2).sum(-1))
    return squares.sqrt()


# %% [wrong] heads_cut_by_reshape | splits the values with one reshape to (..., H, S, d_head), which gives each head some patches instead of its features of all patches
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    output, weights = cross_attn(tokens, image_tokens)
    H, d_model = cross_attn.num_heads, output.shape[-1]
    S, d_head = image_tokens.shape[-2], d_model // H
    values = cross_attn.W_V(image_tokens).reshape(*image_tokens.shape[:-2], H, S, d_head)
    W = cross_attn.W_O.weight.reshape(d_model, H, d_head)
    added = torch.einsum("...hts,...hsd,mhd->...tsm", weights, values, W)
    return torch.linalg.vector_norm(added, dim=-1)


# %% [wrong] one_batch_axis | the shapes and the einsum are written for exactly one batch axis: raises for (T, d_model) without a batch and for two of them
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    B, S, d_model = image_tokens.shape
    _, alpha = cross_attn(tokens, image_tokens)
    heads = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).view(B, S, heads, d_model // heads)
    w_o = cross_attn.W_O.weight.view(d_model, heads, d_model // heads)
    c = torch.einsum("bhts,bshd,mhd->btsm", alpha, v, w_o)
    return c.pow(2).sum(-1).sqrt()


# %% [right] through_the_layer_itself | weights times values for each pair of token and patch, heads side by side, then the layer W_O itself
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    values = cross_attn.W_V(image_tokens)
    shares = weights.movedim(-3, -1)  # (..., T, S, H)
    width = values.shape[-1] // shares.shape[-1]
    side_by_side = shares.repeat_interleave(width, dim=-1) * values.unsqueeze(-3)  # (..., T, S, d_model)
    return torch.linalg.vector_norm(cross_attn.W_O(side_by_side), dim=-1)
