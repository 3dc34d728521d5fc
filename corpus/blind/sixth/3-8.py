# %% [wrong] lengths_before_sum | The length is taken for each head and then summed over the heads; heads that cancel each other still count. The heads' vectors should be summed first
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    value = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    W_O = cross_attn.W_O.weight.unflatten(1, (H, -1))
    sent = torch.einsum("...shk,dhk->...hsd", value, W_O)
    return (weights * sent.norm(dim=-1).unsqueeze(-2)).sum(-3)

# %% [wrong] rows_of_W_O | W_O is cut along its rows (the output) and not along its columns: h · d_head … belongs to the input axis, dim 1 of the weight
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    H = cross_attn.num_heads
    value = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    slices = cross_attn.W_O.weight.unflatten(0, (H, -1))        # (H, d_head, d_model)
    return torch.einsum("...hts,...shk,hkd->...tsd", weights, value, slices).norm(dim=-1)

# %% [wrong] without_W_O | W_O is left out: the weighted values of the heads stand side by side and their joint length is taken, so heads can neither cancel nor be scaled by their part of W_O
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, alpha = cross_attn(tokens, image_tokens)
    v = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1)).transpose(-3, -2)
    parts = alpha.unsqueeze(-1) * v.unsqueeze(-3)               # (..., H, T, S, d_head)
    return parts.movedim(-4, -2).flatten(-2).norm(dim=-1)

# %% [wrong] squared_length | The squares are summed and the root is never taken, so it returns the squared length of c instead of its length
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    heads = cross_attn.num_heads
    value = cross_attn.W_V(image_tokens).unflatten(-1, (heads, -1))
    W = cross_attn.W_O.weight.unflatten(-1, (heads, -1))
    c = torch.einsum("...hts,...shk,dhk->...tsd", weights, value, W)
    return c.square().sum(dim=-1)

# %% [wrong] rows_to_one | The map is divided by the sum of its row, so each row sums to 1; the length itself is asked for
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    heads = cross_attn.num_heads
    value = cross_attn.W_V(image_tokens).unflatten(-1, (heads, -1))
    W = cross_attn.W_O.weight.unflatten(-1, (heads, -1))
    lengths = torch.einsum("...hts,...shk,dhk->...tsd", weights, value, W).norm(dim=-1)
    return lengths / lengths.sum(dim=-1, keepdim=True)

# %% [wrong] heads_interleaved | Values and W_O are cut as (d_head, H) instead of (H, d_head), so head h gets every H-th number, while the weights belong to blocks of neighbours
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, a = cross_attn(tokens, image_tokens)
    n = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (-1, n))
    o = cross_attn.W_O.weight.unflatten(-1, (-1, n))
    c = torch.einsum("...hts,...skh,dkh->...tsd", a, v, o)
    return torch.linalg.vector_norm(c, dim=-1)

# %% [right] head_by_head | a loop over chunks of values and of W_O's columns, vectors added up before the length
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    values = cross_attn.W_V(image_tokens).chunk(cross_attn.num_heads, dim=-1)
    columns = cross_attn.W_O.weight.chunk(cross_attn.num_heads, dim=1)
    added = 0.0
    for alpha, value, column in zip(weights.unbind(-3), values, columns):
        added = added + alpha.unsqueeze(-1) * F.linear(value, column).unsqueeze(-3)  # (..., T, S, d_model)
    return torch.linalg.vector_norm(added, dim=-1)
