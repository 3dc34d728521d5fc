# %% [wrong] head_average | The plain average of the weights over the heads comes back; the values are left out altogether.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    return weights.mean(dim=-3)
# %% [wrong] length_before_sum | The length is taken for each head, and the lengths are summed; the heads' vectors have to be summed first, since they may cancel.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens)
    d_head = v.shape[-1] // H
    v = v.unflatten(-1, (H, d_head)).transpose(-2, -3)            # (..., H, S, d_head)
    W_O = cross_attn.W_O.weight.unflatten(-1, (H, d_head))        # (d_model, H, d_head)
    sent = torch.einsum("...hsd,mhd->...hsm", v, W_O)
    return (weights * sent.norm(dim=-1).unsqueeze(-2)).sum(dim=-3)
# %% [wrong] no_output_projection | The values are not sent through W_O: the heads' values are summed as they are.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    heads = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens)
    values = values.reshape(*values.shape[:-1], heads, -1).transpose(-3, -2)
    brought = torch.einsum("...hts,...hsd->...tsd", weights, values)
    return brought.norm(dim=-1)
# %% [wrong] rows_of_W_O | The slice of W_O for a head is taken from its rows (outputs), where its columns belong to the head.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    V = cross_attn.W_V(image_tokens)
    d = V.shape[-1] // H
    total = 0
    for h in range(H):
        v_h = V[..., h * d : (h + 1) * d]
        out_h = v_h @ cross_attn.W_O.weight[h * d : (h + 1) * d, :]
        total = total + weights[..., h, :, :].unsqueeze(-1) * out_h.unsqueeze(-3)
    return total.norm(dim=-1)
# %% [wrong] slice_not_transposed | The head's slice of W_O, (d_model, d_head), is multiplied without transposing it: the matrix product raises.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    V = cross_attn.W_V(image_tokens)
    d = V.shape[-1] // H
    parts = []
    for h in range(H):
        cols = slice(h * d, (h + 1) * d)
        parts.append(V[..., cols] @ cross_attn.W_O.weight[:, cols])
    sent = torch.stack(parts, dim=-3)
    return torch.einsum("...hts,...hsm->...tsm", weights, sent).norm(dim=-1)
# %% [wrong] keys_for_values | The vectors are made with W_K in place of W_V: keys are weighted, not values.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_K(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    slices = cross_attn.W_O.weight.unflatten(1, (H, -1))
    moved = torch.einsum("...hsd,mhd->...hsm", values, slices)
    return torch.einsum("...hts,...hsm->...tsm", weights, moved).norm(dim=-1)
# %% [wrong] heads_split_by_reshape | The values are reshaped to (..., H, S, d_head) without the transpose: the heads' values of different patches are mixed up.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens)
    *lead, S, d_model = v.shape
    v = v.reshape(*lead, H, S, d_model // H)
    w_o = cross_attn.W_O.weight.T.reshape(H, d_model // H, d_model)
    return torch.einsum("...hts,...hsm->...tsm", weights, v @ w_o).norm(dim=-1)
# %% [wrong] squared_length | The squared length comes back: the root of the sum of squares is missing.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens)
    v = v.view(*v.shape[:-1], H, -1).transpose(-3, -2)
    w_o = cross_attn.W_O.weight.T.reshape(H, v.shape[-1], -1)
    c = torch.einsum("...hts,...hsm->...tsm", weights, v @ w_o)
    return (c ** 2).sum(-1)
# %% [wrong] rows_normalised | The map is divided by its sum over the patches, so the rows sum to 1; the lengths themselves are asked for.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    w_o = cross_attn.W_O.weight.unflatten(1, (H, -1)).permute(1, 2, 0)
    contribution = torch.einsum("...hts,...hsm->...tsm", weights, v @ w_o)
    result = contribution.norm(dim=-1)
    return result / result.sum(dim=-1, keepdim=True)
# %% [wrong] heads_interleaved | The features are split as (d_head, H) in place of (H, d_head): each head gets every H-th feature, not its own block.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (-1, H))          # (..., S, d_head, H)
    w = cross_attn.W_O.weight.unflatten(1, (-1, H))                  # (d_model, d_head, H)
    return torch.einsum("...hts,...sdh,mdh->...tsm", weights, v, w).norm(dim=-1)
# %% [wrong] one_batch_axis_only | The einsum names exactly one batch axis b, so inputs without a batch, or with two batch axes, raise.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    w = cross_attn.W_O.weight.unflatten(1, (H, -1))
    c = torch.einsum("bhts,bshd,mhd->btsm", weights, v, w)
    return c.norm(dim=-1)
# %% [wrong] four_heads_fixed | The number of heads is hard-coded as 4 in place of cross_attn.num_heads.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    v = cross_attn.W_V(image_tokens).unflatten(-1, (4, -1))
    w = cross_attn.W_O.weight.unflatten(1, (4, -1))
    c = torch.einsum("...hts,...shd,mhd->...tsm", weights, v, w)
    return c.norm(dim=-1)
# %% [wrong] query_and_context_swapped | The arguments of cross_attn are swapped: the patches ask and the words answer, so the weights are those of the wrong direction.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(image_tokens, tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    w = cross_attn.W_O.weight.unflatten(1, (H, -1))
    return torch.einsum("...hst,...shd,mhd->...tsm", weights, v, w).norm(dim=-1)
# %% [wrong] mean_over_heads | The heads' vectors are averaged where their sum is asked for: the map is too small by the factor num_heads.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    weights = cross_attn(tokens, image_tokens)[1]
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    w = cross_attn.W_O.weight.T.unflatten(0, (H, -1))
    per_head = weights.unsqueeze(-1) * (v @ w).unsqueeze(-3)         # (..., H, T, S, d_model)
    return per_head.mean(dim=-4).norm(dim=-1)
# %% [wrong] last_head_only | In the loop the sum is overwritten (`=` for `+=`): only the last head is left.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    values = cross_attn.W_V(image_tokens)
    d_head = values.shape[-1] // cross_attn.num_heads
    for h in range(cross_attn.num_heads):
        mine = slice(h * d_head, (h + 1) * d_head)
        sent = values[..., mine] @ cross_attn.W_O.weight[:, mine].T
        c = weights[..., h, :, :, None] * sent[..., None, :, :]
    return torch.linalg.vector_norm(c, dim=-1)
# %% [wrong] sum_of_features | The features are summed up instead of taking the length: what comes back may be negative.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    w = cross_attn.W_O.weight.unflatten(1, (H, -1))
    return torch.einsum("...hts,...shd,mhd->...tsm", weights, v, w).sum(dim=-1)
# %% [wrong] manhattan_length | The length is taken as the sum of absolute values (p=1); the formula has the Euclidean norm.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    w = cross_attn.W_O.weight.unflatten(1, (H, -1))
    return torch.einsum("...hts,...shd,mhd->...tsm", weights, v, w).norm(p=1, dim=-1)
# %% [wrong] image_not_given_to_attention | cross_attn is called with the tokens alone, so the weights are those of the words over the words.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    w = cross_attn.W_O.weight.T.unflatten(0, (H, -1))
    c = torch.einsum("...hts,...hsm->...tsm", weights, v @ w)
    return c.norm(dim=-1)
# %% [wrong] scaled_by_model_width | The weights are computed by hand and the scores are divided by the root of d_model, where each head has the width d_head.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    H, d_model = cross_attn.num_heads, tokens.shape[-1]

    def heads(x):
        return x.unflatten(-1, (H, d_model // H)).transpose(-3, -2)

    q, k, v = heads(cross_attn.W_Q(tokens)), heads(cross_attn.W_K(image_tokens)), heads(cross_attn.W_V(image_tokens))
    weights = (q @ k.mT / d_model**0.5).softmax(-1)
    w = cross_attn.W_O.weight.T.unflatten(0, (H, -1))
    return torch.einsum("...hts,...hsm->...tsm", weights, v @ w).norm(dim=-1)
# %% [wrong] words_by_patches_turned | The result is (..., S, T): rows are patches and columns words, the other way round than asked.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    w = cross_attn.W_O.weight.unflatten(1, (H, -1))
    return torch.einsum("...hts,...shd,mhd->...stm", weights, v, w).norm(dim=-1)
# %% [wrong] no_projection_and_lengths_first | The values are not sent through W_O AND the lengths are taken for each head before the sum.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)
    v = cross_attn.W_V(image_tokens).unflatten(-1, (cross_attn.num_heads, -1)).transpose(-3, -2)
    return (weights * v.norm(dim=-1).unsqueeze(-2)).sum(dim=-3)
# %% [wrong] whole_output_length | The contributions are summed over the patches before the length is taken: every patch gets the length of the word's whole output.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    output, weights = cross_attn(tokens, image_tokens)
    length = output.norm(dim=-1, keepdim=True)                  # (..., T, 1)
    return length.expand(*length.shape[:-1], image_tokens.shape[-2])
# %% [right] loop_over_heads | A loop over the heads that adds up what each brings.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    weights = cross_attn(tokens, image_tokens)[1]
    values = cross_attn.W_V(image_tokens)
    width = values.shape[-1] // cross_attn.num_heads
    brought = 0.0
    for head in range(cross_attn.num_heads):
        part = slice(head * width, head * width + width)
        sent = F.linear(values[..., part], cross_attn.W_O.weight[:, part])
        brought = brought + weights[..., head, :, :].unsqueeze(-1) * sent.unsqueeze(-3)
    return brought.square().sum(-1).sqrt()
# %% [right] one_einsum | A single einsum over weights, values and the output projection, heads split by unflatten.
def value_weighted_map(cross_attn, tokens, image_tokens):
    H = cross_attn.num_heads
    _, alpha = cross_attn(tokens, image_tokens)
    v = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    W_O = cross_attn.W_O.weight.unflatten(-1, (H, -1))
    c = torch.einsum("...hts,...shd,mhd->...tsm", alpha, v, W_O)
    return torch.linalg.vector_norm(c, dim=-1)
# %% [right] weighted_then_projected | Weighs the heads' values for each pair, joins them to (..., T, S, d_model), and sends that through the layer W_O as it is (it has no bias, and is linear).
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    """How much each patch adds to each token, over all heads together.

    Args:
        cross_attn: MultiHeadAttention
        tokens: (..., T, d_model)
        image_tokens: (..., S, d_model)

    Returns:
        (..., T, S), non-negative
    """
    _, weights = cross_attn(tokens, image_tokens)                    # (..., H, T, S)
    values = cross_attn.W_V(image_tokens)                            # (..., S, d_model)
    d_head = values.shape[-1] // cross_attn.num_heads
    per_feature = weights.movedim(-3, -1).repeat_interleave(d_head, dim=-1)   # (..., T, S, d_model)
    contribution = cross_attn.W_O(per_feature * values.unsqueeze(-3))
    return contribution.norm(dim=-1)
