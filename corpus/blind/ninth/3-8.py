# %% [wrong] lengths_before_the_sum | The length of each head's vector is taken first, and the lengths are summed. The heads' vectors should be summed first, for they may cancel each other. The map comes out too large wherever heads disagree.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.unflatten(1, (H, -1)).permute(1, 2, 0)
    brought = values @ slices
    return (weights * brought.norm(dim=-1).unsqueeze(-2)).sum(-3)

# %% [wrong] rows_of_the_output_matrix | A head's slice is cut out of the rows of W_O.weight. The weight is output by input, so the slice of a head is made of columns. Each head's values go through the wrong numbers.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    heads = weights.shape[-3]
    size = tokens.shape[-1] // heads
    values = cross_attn.W_V(image_tokens)
    total = 0
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        through = values[..., part] @ cross_attn.W_O.weight[part, :]
        total = total + weights[..., h, :, :, None] * through.unsqueeze(-3)
    return torch.linalg.vector_norm(total, dim=-1)

# %% [wrong] heads_cut_by_reshape | The values are reshaped to (..., H, S, d_head) at once. The width should be split first and the axes swapped then. A head gets numbers of several patches and several heads.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, alpha = cross_attn(tokens, image_tokens)
    H, S = cross_attn.num_heads, image_tokens.shape[-2]
    d_head = cross_attn.W_V.out_features // H
    v = cross_attn.W_V(image_tokens).reshape(*image_tokens.shape[:-2], H, S, d_head)
    W = cross_attn.W_O.weight.T.reshape(H, d_head, -1)
    c = torch.einsum("...hts,...hsd,hdm->...tsm", alpha, v, W)
    return c.norm(dim=-1)

# %% [wrong] one_batch_axis_only | The einsum has a fixed letter b for the batch. Tokens may have any number of batch axes, also none. A single scene (T, d_model) ends in an error.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    values = torch.stack(cross_attn.W_V(image_tokens).chunk(cross_attn.num_heads, dim=-1), dim=-3)
    W = torch.stack(cross_attn.W_O.weight.chunk(cross_attn.num_heads, dim=1))
    sent = torch.einsum("bhsd,hmd->bhsm", values, W)
    return torch.einsum("bhts,bhsm->btsm", weights, sent).norm(dim=-1)

# %% [wrong] mean_weight_times_whole_value | The weights are averaged over the heads, and multiplied with the length of the whole projected value. Each head's weight belongs to its own values alone. A resting head's weight is multiplied with what the other heads bring.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1].mean(-3)
    lengths = cross_attn.W_O(cross_attn.W_V(image_tokens)).norm(dim=-1)
    return weights * lengths.unsqueeze(-2)

# %% [wrong] rows_made_to_sum_to_one | At the end each row is divided by its sum, so that it looks like attention. The lengths themselves were asked for. The map is right up to a factor that differs from word to word.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    H = cross_attn.num_heads
    _, weights = cross_attn(tokens, image_tokens)
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    out = cross_attn.W_O.weight.unflatten(-1, (H, -1))
    c = torch.einsum("...hts,...shd,mhd->...tsm", weights, values, out)
    lengths = c.square().sum(-1).sqrt()
    return lengths / lengths.sum(-1, keepdim=True)

# %% [right] scaled_values_through_the_output | Scales each head's part of the value by that head's weight with repeat_interleave, and sends the joined vector through W_O as it is: linear, so the heads are summed.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    value = cross_attn.W_V(image_tokens)
    share = weights.movedim(-3, -1).repeat_interleave(value.shape[-1] // cross_attn.num_heads, dim=-1)
    return cross_attn.W_O(share * value.unsqueeze(-3)).pow(2).sum(-1).sqrt()
