# %% [wrong] lengths_before_the_sum | Takes the length for each head and adds the lengths up; the vectors must be added first, for heads may cancel each other.
def value_weighted_map(cross_attn, tokens, image_tokens):
    H = cross_attn.num_heads
    _, weights = cross_attn(tokens, image_tokens)
    v = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))                 # (..., S, H, d)
    W = cross_attn.W_O.weight.unflatten(-1, (H, -1))                        # (D, H, d)
    sent = torch.einsum("...shd,mhd->...hsm", v, W)
    return (weights * sent.norm(dim=-1).unsqueeze(-2)).sum(-3)


# %% [wrong] rows_of_the_output_layer | Cuts W_O by rows; its weight is output by input, so the columns belong to a head.
def value_weighted_map(cross_attn, tokens, image_tokens):
    heads = cross_attn.num_heads
    _, weights = cross_attn(tokens, image_tokens)
    value = cross_attn.W_V(image_tokens).unflatten(-1, (heads, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.unflatten(0, (heads, -1))   # (H, d_head, d_model)
    brought = value @ slices
    return torch.einsum("...hts,...hsd->...tsd", weights, brought).norm(dim=-1)


# %% [wrong] without_the_output_layer | W_O is left out: the heads' values stand in their own columns and are never mixed, so they cannot cancel each other.
def value_weighted_map(cross_attn, tokens, image_tokens):
    _, weights = cross_attn(tokens, image_tokens)
    v = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1)).transpose(-3, -2)
    c = weights.unsqueeze(-1) * v.unsqueeze(-3)        # (..., H, T, S, d_head)
    c = c.movedim(-4, -2).flatten(-2)
    return c.norm(dim=-1)


# %% [wrong] average_weight_times_length | Averages the weights over the heads first and multiplies with the length of the whole value: no head is weighed by what it brings.
def value_weighted_map(cross_attn, tokens, image_tokens):
    _, weights = cross_attn(tokens, image_tokens)
    average = weights.mean(dim=-3)
    sent = cross_attn.W_O(cross_attn.W_V(image_tokens))
    return average * sent.norm(dim=-1).unsqueeze(-2)


# %% [wrong] sum_in_place_of_length | Adds the numbers of each vector up in place of taking its length: they cancel, and the map can be negative.
def value_weighted_map(cross_attn, tokens, image_tokens):
    H = cross_attn.num_heads
    weights = cross_attn(tokens, image_tokens)[1]
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    out = cross_attn.W_O.weight.unflatten(-1, (H, -1))
    c = torch.einsum("...hts,...shk,dhk->...tsd", weights, values, out)
    return c.sum(dim=-1)


# %% [wrong] mean_of_heads_of_norms | Loops over the heads and takes the mean of their maps: the lengths are taken head by head, and divided by the number of heads on top.
def value_weighted_map(cross_attn, tokens, image_tokens):
    _, weights = cross_attn(tokens, image_tokens)
    d = cross_attn.W_O.weight.shape[0] // cross_attn.num_heads
    V = cross_attn.W_V(image_tokens)
    maps = []
    for h in range(cross_attn.num_heads):
        part = slice(h * d, (h + 1) * d)
        vh = V[..., part] @ cross_attn.W_O.weight[:, part].T          # (..., S, d_model)
        maps.append((weights[..., h, :, :, None] * vh[..., None, :, :]).norm(dim=-1))
    return torch.stack(maps).mean(0)


# %% [right] head_loop_accumulates | A loop over the heads adds each one's vectors into one tensor, and the length is taken as the root of the sum of squares.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    values = cross_attn.W_V(image_tokens).chunk(cross_attn.num_heads, dim=-1)
    columns = cross_attn.W_O.weight.chunk(cross_attn.num_heads, dim=1)
    added = 0
    for h, (value, column) in enumerate(zip(values, columns)):
        brought = F.linear(value, column).unsqueeze(-3)
        added = added + weights[..., h, :, :].unsqueeze(-1) * brought
    return torch.sqrt(added.square().sum(-1))
