# %% [right] loop_over_heads | right
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    values = cross_attn.W_V(image_tokens)
    width = values.shape[-1] // cross_attn.num_heads
    total = 0
    for head in range(cross_attn.num_heads):
        mine = slice(head * width, (head + 1) * width)
        brought = values[..., mine] @ cross_attn.W_O.weight[:, mine].T
        total = total + weights[..., head, :, :].unsqueeze(-1) * brought.unsqueeze(-3)
    return total.pow(2).sum(-1).sqrt()

# %% [right] weighted_values_then_w_o | right
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    values = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1))
    parts = torch.einsum("...hts,...shd->...tshd", weights, values)
    return cross_attn.W_O(parts.flatten(-2)).norm(dim=-1)

# %% [wrong] length_before_sum | The length is taken for each head and then summed over the heads, so heads cannot cancel each other.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.T.unflatten(0, (H, -1))
    sent = values @ slices
    lengths = sent.norm(dim=-1)
    return (weights * lengths.unsqueeze(-2)).sum(-3)

# %% [wrong] rows_of_w_o | The rows instead of the columns of W_O.weight are taken as the slice of a head.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.unflatten(0, (H, -1))
    sent = values @ slices
    added = torch.einsum("...hts,...hsd->...tsd", weights, sent)
    return added.norm(dim=-1)

# %% [wrong] no_output_projection | W_O is left out: it sums the weighted values of the heads without sending them through the output projection.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    added = torch.einsum("...hts,...hsd->...tsd", weights, values)
    return torch.linalg.vector_norm(added, dim=-1)

# %% [wrong] heads_by_reshape | The values are split into heads by reshape to (H, S, d_head) without a transpose, so tokens and heads are mixed.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens)
    S, d_model = values.shape[-2:]
    d_head = d_model // H
    values = values.reshape(*values.shape[:-2], H, S, d_head)
    slices = cross_attn.W_O.weight.reshape(d_model, H, d_head).permute(1, 2, 0)
    added = torch.einsum("...hts,...hsd->...tsd", weights, values @ slices)
    return added.norm(dim=-1)

# %% [wrong] weights_averaged_first | The weights are averaged over the heads and multiplied by the length of the whole value, so which head brings what is lost.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    brought = cross_attn.W_O(cross_attn.W_V(image_tokens))
    return weights.mean(-3) * brought.norm(dim=-1).unsqueeze(-2)

# %% [wrong] summed_over_patches | The einsum sums over the patches too (the output of the attention), and the norm is then multiplied back onto the mean weights.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    output, weights = cross_attn(tokens, image_tokens)
    length = output.norm(dim=-1, keepdim=True)
    return weights.mean(-3) * length

# %% [wrong] squared_length | It returns the squared length of the summed vectors: the square root is missing.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.T.unflatten(0, (H, -1))
    added = torch.einsum("...hts,...hsd->...tsd", weights, values @ slices)
    return added.pow(2).sum(-1)

# %% [wrong] rows_normalised | The map is divided by its row sums, although the lengths themselves are asked for.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.T.unflatten(0, (H, -1))
    added = torch.einsum("...hts,...hsd->...tsd", weights, values @ slices)
    lengths = added.norm(dim=-1)
    return lengths / lengths.sum(-1, keepdim=True)
