# %% [wrong] lengths_before_the_sum | Takes the length of each head's vector and then sums over the heads. The vectors are to be summed first: heads that cancel each other count here, and the map is too large.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    H = cross_attn.num_heads
    _, weights = cross_attn(tokens, image_tokens)
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.unflatten(1, (H, -1)).permute(1, 2, 0)  # (H, d_head, d_model)
    brought = values @ slices
    return (weights * brought.norm(dim=-1).unsqueeze(-2)).sum(dim=-3)


# %% [wrong] rows_of_w_o | Cuts W_O by rows and not by columns. nn.Linear keeps its weight as output by input, so the columns belong to the heads; the shapes fit all the same, and the lengths are wrong.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    heads = cross_attn.num_heads
    weights = cross_attn(tokens, image_tokens)[1]
    v = cross_attn.W_V(image_tokens)
    v = v.reshape(*v.shape[:-1], heads, -1).transpose(-2, -3)
    d_model = cross_attn.W_O.weight.shape[0]
    W = cross_attn.W_O.weight.reshape(heads, d_model // heads, d_model)
    projected = torch.einsum("...hsd,hdm->...hsm", v, W)
    return torch.einsum("...hts,...hsm->...tsm", weights, projected).norm(dim=-1)


# %% [wrong] rows_that_sum_to_one | Divides each row by its sum, so that it looks like attention weights. The map should hold the lengths themselves: how much is added, not which share of it.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, alpha = cross_attn(tokens, image_tokens)
    n = cross_attn.num_heads
    d = cross_attn.W_O.weight.shape[1] // n
    values = cross_attn.W_V(image_tokens)
    total = 0
    for h in range(n):
        cols = slice(h * d, (h + 1) * d)
        sent = values[..., cols] @ cross_attn.W_O.weight[:, cols].T
        total = total + alpha[..., h, :, :, None] * sent[..., None, :, :]
    lengths = torch.linalg.vector_norm(total, dim=-1)
    return lengths / lengths.sum(dim=-1, keepdim=True)


# %% [wrong] exactly_one_batch_axis | Names a batch axis b in einsum. Tokens without a batch, or with two batch axes, stop with an error about the number of axes.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    H = cross_attn.num_heads
    _, w = cross_attn(tokens, image_tokens)
    v = cross_attn.W_V(image_tokens)
    v = v.unflatten(-1, (H, v.shape[-1] // H))
    W_O = cross_attn.W_O.weight.unflatten(-1, (H, -1))
    c = torch.einsum("bhts,bshd,mhd->btsm", w, v, W_O)
    return c.pow(2).sum(-1).sqrt()


# %% [wrong] values_split_by_a_reshape | Splits the values into heads by a single reshape to (..., H, S, d_head). The shape is right, but head 0 gets the first patches whole and not the first features of every patch.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    *lead, S, d_model = image_tokens.shape
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).reshape(*lead, H, S, -1)
    per_head = cross_attn.W_O.weight.reshape(-1, H, values.shape[-1])
    contributions = torch.einsum("...hsd,mhd->...hsm", values, per_head)
    summed = torch.einsum("...hts,...hsm->...tsm", weights, contributions)
    return summed.norm(dim=-1)


# %% [right] each_patch_alone | Weighs the values of each patch by its head's weight while they still lie side by side, and sends the result through W_O itself: the output projection does the sum over the heads.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1].movedim(-3, -1)  # (..., T, S, H)
    values = cross_attn.W_V(image_tokens).unsqueeze(-3)  # (..., 1, S, d_model)
    share = weights.repeat_interleave(values.shape[-1] // cross_attn.num_heads, dim=-1)
    return torch.linalg.vector_norm(cross_attn.W_O(share * values), dim=-1)
