# %% [wrong] lengths_summed_over_heads | The length of each head's vector is taken first and the lengths are then summed, so heads that cancel each other still count. Sum the heads' vectors first, then take the length.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)  # (..., H, T, S)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))  # (..., S, H, d_head)
    slices = cross_attn.W_O.weight.unflatten(1, (H, -1))  # (d_model, H, d_head)
    brought = torch.einsum("...shk,dhk->...hsd", values, slices)
    lengths = brought.norm(dim=-1)  # (..., H, S)
    return torch.einsum("...hts,...hs->...ts", weights, lengths)


# %% [wrong] rows_of_the_output_projection | Each head is sent through its rows of W_O.weight. The weight is output by input, so what belongs to a head are its columns.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    values = cross_attn.W_V(image_tokens)
    d_head = values.shape[-1] // cross_attn.num_heads
    added = 0
    for head in range(cross_attn.num_heads):
        part = slice(head * d_head, (head + 1) * d_head)
        sent = values[..., part] @ cross_attn.W_O.weight[part]  # (..., S, d_model)
        added = added + weights[..., head, :, :].unsqueeze(-1) * sent.unsqueeze(-3)  # (..., T, S, d_model)
    return added.norm(dim=-1)
