# %% [wrong] lengths_before_the_sum | the length is taken for each head and then summed over the heads: heads that cancel each other count double instead of not at all
def value_weighted_map(cross_attn, tokens, image_tokens):
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.unflatten(1, (H, -1)).permute(1, 2, 0)  # (H, d_head, d_model)
    sent = values @ slices
    return (weights * sent.norm(dim=-1).unsqueeze(-2)).sum(dim=-3)


# %% [wrong] rows_of_W_O | the slice of a head is taken from the rows of W_O.weight (the outputs) instead of its columns (the inputs)
def value_weighted_map(cross_attn, tokens, image_tokens):
    _, weights = cross_attn(tokens, image_tokens)
    heads = cross_attn.num_heads
    d_head = cross_attn.W_V.out_features // heads
    values = cross_attn.W_V(image_tokens)
    total = 0
    for h in range(heads):
        part = slice(h * d_head, (h + 1) * d_head)
        sent = values[..., part] @ cross_attn.W_O.weight[part, :]  # (..., S, d_model)
        total = total + weights[..., h, :, :, None] * sent[..., None, :, :]
    return total.norm(dim=-1)


# %% [wrong] average_of_the_weights | the weights are averaged over the heads first and multiplied with the length of what the whole value becomes: no head is weighed by its own value
def value_weighted_map(cross_attn, tokens, image_tokens):
    weights = cross_attn(tokens, image_tokens)[1].mean(dim=-3)
    brought = cross_attn.W_O(cross_attn.W_V(image_tokens))
    return weights * torch.linalg.vector_norm(brought, dim=-1).unsqueeze(-2)


# %% [wrong] one_batch_axis | the einsum is written for exactly one batch dimension: without one, or with two, it raises an error, though the text says (..., T, d_model)
def value_weighted_map(cross_attn, tokens, image_tokens):
    _, a = cross_attn(tokens, image_tokens)
    v = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1))
    w = cross_attn.W_O.weight.unflatten(-1, (cross_attn.num_heads, -1))
    c = torch.einsum("bhts,bshd,ohd->btso", a, v, w)
    return c.square().sum(-1).sqrt()


# %% [wrong] squared_length | the root is missing: the squares are summed, so the map holds squared lengths
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    values = torch.stack(cross_attn.W_V(image_tokens).chunk(cross_attn.num_heads, dim=-1), dim=-3)
    columns = torch.stack(cross_attn.W_O.weight.chunk(cross_attn.num_heads, dim=1))
    sent = torch.einsum("...hsd,hod->...hso", values, columns)
    added = torch.einsum("...hts,...hso->...tso", weights, sent)
    return (added * added).sum(dim=-1)


# %% [right] patch_by_patch | goes patch by patch: its values, each times its head's weight, are joined and sent through the whole W_O, as if the image had this patch alone
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    weights = cross_attn(tokens, image_tokens)[1]
    d_head = cross_attn.W_V.out_features // cross_attn.num_heads
    lengths = []
    for share, value in zip(weights.unbind(-1), cross_attn.W_V(image_tokens).unbind(-2)):
        each_number = share.swapaxes(-2, -1).repeat_interleave(d_head, dim=-1)  # (..., T, d_model)
        lengths.append(torch.linalg.vector_norm(cross_attn.W_O(each_number * value.unsqueeze(-2)), dim=-1))
    return torch.stack(lengths, dim=-1)
