# %% [wrong] rows_of_W_O | W_O.weight is cut into heads along its rows (the output); the columns, its input, belong to the heads. Each head goes through the transpose of a wrong piece.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    H = cross_attn.num_heads
    _, weights = cross_attn(tokens, image_tokens)
    value = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))  # (..., S, H, d_head)
    slices = cross_attn.W_O.weight.unflatten(0, (H, -1))  # (H, d_head, d_model)
    added = torch.einsum("...hts,...shk,hkd->...tsd", weights, value, slices)
    return added.norm(dim=-1)

# %% [wrong] without_W_O | The weighted values of the heads are put side by side and measured, without W_O; they should be sent through W_O's slices and summed. Heads cannot cancel each other, and a head that W_O silences still counts.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    value = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1)).transpose(-3, -2)
    brought = weights.unsqueeze(-1) * value.unsqueeze(-3)  # (..., H, T, S, d_head)
    return brought.pow(2).sum((-1, -4)).sqrt()

# %% [wrong] sum_of_magnitudes | The length is measured as the sum of absolute values (ord=1); it should be the Euclidean length, the root of the sum of squares.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    H = cross_attn.num_heads
    _, weights = cross_attn(tokens, image_tokens)
    value = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    per_head = torch.einsum("...shk,dhk->...hsd", value, cross_attn.W_O.weight.unflatten(1, (H, -1)))
    added = torch.einsum("...hts,...hsd->...tsd", weights, per_head)
    return torch.linalg.vector_norm(added, ord=1, dim=-1)

# %% [wrong] rows_made_to_sum_to_one | Each row is divided by its sum in the end; the map should hold the lengths as they are. How much a token gets in all is lost.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    H = cross_attn.num_heads
    _, weights = cross_attn(tokens, image_tokens)
    value = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    slices = cross_attn.W_O.weight.unflatten(-1, (H, -1))
    lengths = torch.einsum("...hts,...shk,dhk->...tsd", weights, value, slices).norm(dim=-1)
    return lengths / lengths.sum(-1, keepdim=True)  # a map is made of shares

# %% [wrong] heads_interleaved | Values and W_O are cut as (d_head, H), so that head h gets every H-th number; the layer's heads are neighbouring blocks, (H, d_head). The weights of a head meet the values of others.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    cut = (-1, cross_attn.num_heads)
    _, weights = cross_attn(tokens, image_tokens)
    value = cross_attn.W_V(image_tokens).unflatten(-1, cut)  # (..., S, d_head, H)
    slices = cross_attn.W_O.weight.unflatten(-1, cut)  # (d_model, d_head, H)
    added = torch.einsum("...hts,...skh,dkh->...tsd", weights, value, slices)
    return added.norm(dim=-1)

# %% [wrong] exactly_one_batch_axis | The einsum names its batch axis, "bhts,bshk"; it should be "...", any number of leading axes. A single scene without a batch raises an error.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    heads = cross_attn.num_heads
    _, attn = cross_attn(tokens, image_tokens)
    v = cross_attn.W_V(image_tokens).unflatten(-1, (heads, -1))
    w_o = cross_attn.W_O.weight.unflatten(-1, (heads, -1))
    contributions = torch.einsum("bhts,bshk,dhk->btsd", attn, v, w_o)
    return contributions.norm(p=2, dim=-1)

# %% [right] head_after_head | The vectors are added up head after head in a loop, each through its own columns of W_O; the length is taken at the very end.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    values = cross_attn.W_V(image_tokens).chunk(cross_attn.num_heads, dim=-1)
    columns = cross_attn.W_O.weight.chunk(cross_attn.num_heads, dim=1)
    added = 0.0
    for share, value, piece in zip(weights.unbind(-3), values, columns, strict=True):
        vector = F.linear(value, piece)  # (..., S, d_model)
        added = added + share.unsqueeze(-1) * vector.unsqueeze(-3)
    return torch.linalg.vector_norm(added, dim=-1)
