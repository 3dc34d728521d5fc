# %% [right] dense_weight_per_head_and_sum | weights times transformed values for each head, summed over heads, vector norm, after gorokoba560/norm-analysis-of-transformer (exp1_bert)
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    H = cross_attn.num_heads
    _, attention_probs = cross_attn(tokens, image_tokens)
    value_layer = cross_attn.W_V(image_tokens)
    value_layer = value_layer.reshape(*value_layer.shape[:-1], H, 1, -1)  # (..., S, H, 1, d_head)
    dense = cross_attn.W_O.weight
    dense = dense.view(dense.shape[0], H, -1).permute(1, 2, 0)  # (H, d_head, d_model)
    transformed_layer = value_layer.matmul(dense).squeeze(-2).transpose(-3, -2)  # (..., H, S, d_model)
    weighted_layer = torch.einsum("...hts,...hsd->...htsd", attention_probs, transformed_layer)
    summed_weighted_layer = weighted_layer.sum(dim=-4)
    return torch.norm(summed_weighted_layer, dim=-1)


# %% [right] one_einsum_for_all | one einsum over weights, values and W_O slices, linalg.vector_norm, after interpretability notebooks (neelnanda-io/TransformerLens)
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    pattern = cross_attn(tokens, image_tokens)[1]
    v = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1))
    w_o = cross_attn.W_O.weight.unflatten(-1, (cross_attn.num_heads, -1))
    contribution = torch.einsum("...hts,...she,mhe->...tsm", pattern, v, w_o)
    return torch.linalg.vector_norm(contribution, dim=-1)


# %% [right] loop_over_heads_accumulate | a loop over heads that adds weights[..., None] times sent values, after homework style code
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    values = cross_attn.W_V(image_tokens)
    d_head = values.shape[-1] // cross_attn.num_heads
    total = 0
    for h in range(cross_attn.num_heads):
        part = slice(h * d_head, (h + 1) * d_head)
        sent = values[..., part] @ cross_attn.W_O.weight[:, part].T  # (..., S, d_model)
        total = total + weights[..., h, :, :].unsqueeze(-1) * sent.unsqueeze(-3)
    return total.norm(p=2, dim=-1)


# %% [right] ov_circuit_matrices | W_V and W_O of each head multiplied into one OV matrix first, after Anthropic's transformer circuits notebooks
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    H = cross_attn.num_heads
    W_V = cross_attn.W_V.weight.unflatten(0, (H, -1))  # (H, d_head, d_in)
    W_O = cross_attn.W_O.weight.unflatten(1, (H, -1))  # (d_model, H, d_head)
    ov = torch.einsum("hei,mhe->him", W_V, W_O)
    moved = torch.einsum("...si,him->...hsm", image_tokens, ov)
    weights = cross_attn(tokens, image_tokens)[1]
    summed = torch.einsum("...hts,...hsm->...tsm", weights, moved)
    return summed.pow(2).sum(-1).sqrt()


# %% [right] values_in_their_own_columns_through_w_o | values scaled by the weights, merged, and put through the layer's own W_O, after goro style decompositions that call dense() itself
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    v = cross_attn.W_V(image_tokens)
    v = v.reshape(*v.shape[:-1], cross_attn.num_heads, -1)  # (..., S, H, d_head)
    w = weights.movedim(-3, -1)  # (..., T, S, H)
    mixed = (w.unsqueeze(-1) * v.unsqueeze(-4)).flatten(-2)  # (..., T, S, d_model)
    return cross_attn.W_O(mixed).norm(dim=-1)


# %% [right] norms_under_no_grad | analysis under torch.no_grad, dense weight per head, after goro style scripts and a compute_attention_norms function decorated with no_grad (unsure: gradients)
@torch.no_grad()
def value_weighted_map(cross_attn, tokens, image_tokens):
    num_heads = cross_attn.num_heads
    _, attention_weights = cross_attn(tokens, image_tokens)
    value_layer = cross_attn.W_V(image_tokens).unflatten(-1, (num_heads, -1)).transpose(-3, -2)
    dense = cross_attn.W_O.weight.T.unflatten(0, (num_heads, -1))  # (H, d_head, d_model)
    transformed = torch.matmul(value_layer, dense)
    summed = torch.einsum("...hts,...hsm->...tsm", attention_weights, transformed)
    return torch.linalg.norm(summed, dim=-1)
