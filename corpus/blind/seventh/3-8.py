# %% [wrong] rows_for_columns | W_O.weight is cut along its first axis, so the rows and not the columns h·d_head … serve as the head's slice; nn.Linear stores output by input. Lengths come from a transposed matrix.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    H = cross_attn.num_heads
    _, weights = cross_attn(tokens, image_tokens)
    value = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))  # (..., S, H, k)
    W = cross_attn.W_O.weight.unflatten(0, (H, -1))  # (H, k, d)
    added = torch.einsum("...hts,...shk,hkd->...tsd", weights, value, W)
    return added.norm(dim=-1)

# %% [wrong] heads_by_a_single_reshape | The values are reshaped directly to (..., H, S, d_head) without swapping patches and heads, so a head gets numbers of other patches; cut first, then transpose.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    H = cross_attn.num_heads
    _, weights = cross_attn(tokens, image_tokens)
    v = cross_attn.W_V(image_tokens)
    *lead, S, d = v.shape
    v = v.reshape(*lead, H, S, d // H)
    slices = cross_attn.W_O.weight.unflatten(1, (H, -1))  # (d, H, k)
    sent = torch.einsum("...hsk,dhk->...hsd", v, slices)
    return torch.einsum("...hts,...hsd->...tsd", weights, sent).norm(dim=-1)

# %% [wrong] heads_averaged | The vectors of the heads are averaged instead of summed, so all lengths are too small by the factor H; the formula has a sum over h.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    H = cross_attn.num_heads
    _, weights = cross_attn(tokens, image_tokens)
    value = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)  # (..., H, S, k)
    columns = cross_attn.W_O.weight.unflatten(1, (H, -1)).permute(1, 2, 0)  # (H, k, d)
    brought = value @ columns  # (..., H, S, d)
    each = weights.unsqueeze(-1) * brought.unsqueeze(-3)  # (..., H, T, S, d)
    return each.mean(dim=-4).norm(dim=-1)

# %% [wrong] sum_of_absolute_numbers | norm(p=1) adds up the absolute numbers; the length is the Euclidean one, ‖·‖₂, so maps are too large and rank patches differently.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    heads = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (heads, -1))
    slices = cross_attn.W_O.weight.unflatten(-1, (heads, -1))
    added = torch.einsum("...hts,...shk,dhk->...tsd", weights, values, slices)
    return added.norm(p=1, dim=-1)

# %% [wrong] made_to_sum_to_one | The lengths are divided by their sum over the patches, so each row is a share again; the length itself is asked for, which also says how much is added altogether.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    heads = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (heads, -1))
    slices = cross_attn.W_O.weight.unflatten(-1, (heads, -1))
    lengths = torch.einsum("...hts,...shk,dhk->...tsd", weights, values, slices).norm(dim=-1)
    return lengths / lengths.sum(dim=-1, keepdim=True)

# %% [wrong] mean_weight_times_whole_value | The mean of the heads' weights is multiplied by the length of W_O(W_V(patch)), as if all heads looked alike; each head's weight belongs to its own part of the value.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    what = cross_attn.W_O(cross_attn.W_V(image_tokens))  # (..., S, d_model)
    length = what.norm(dim=-1)  # (..., S)
    return weights.mean(dim=-3) * length.unsqueeze(-2)

# %% [right] head_after_head | a sum in a loop: every head's values go through its columns of W_O and are weighed, then the length
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    count = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).chunk(count, dim=-1)
    columns = cross_attn.W_O.weight.chunk(count, dim=1)
    added = sum(
        weights[..., head, :, :, None] * F.linear(value, column).unsqueeze(-3)
        for head, (value, column) in enumerate(zip(values, columns, strict=True))
    )
    return torch.linalg.vector_norm(added, dim=-1)
