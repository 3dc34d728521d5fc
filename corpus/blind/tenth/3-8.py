# %% [wrong] rows_of_the_output_projection | Each head's values are sent through rows of W_O.weight in place of its columns. W_O.weight is output by input, so a head's slice is a block of columns; the map is another one.
def value_weighted_map(cross_attn, tokens, image_tokens):
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))  # (..., S, H, d_head)
    W = cross_attn.W_O.weight.unflatten(0, (H, -1))  # (H, d_head, d_model)
    sent = torch.einsum("...shd,hdm->...hsm", values, W)
    added = torch.einsum("...hts,...hsm->...tsm", weights, sent)
    return added.norm(dim=-1)

# %% [wrong] sum_of_absolute_values | The length of a vector is taken as the sum of its absolute numbers (norm with p=1). The Euclidean length, the root of the sum of squares, is asked for.
def value_weighted_map(cross_attn, tokens, image_tokens):
    _, weights = cross_attn(tokens, image_tokens)
    H = weights.shape[-3]
    d_model = cross_attn.W_O.weight.shape[0]
    d_head = d_model // H
    V = cross_attn.W_V(image_tokens)
    total = 0
    for h in range(H):
        cols = slice(h * d_head, (h + 1) * d_head)
        contribution = V[..., cols] @ cross_attn.W_O.weight[:, cols].T  # (..., S, d_model)
        total = total + weights[..., h, :, :].unsqueeze(-1) * contribution.unsqueeze(-3)
    return total.abs().sum(dim=-1)

# %% [wrong] average_map_times_length | The weights are averaged over the heads, and the average is multiplied by the length of what all heads together would send. Each head's weight should meet that head's own value before the sum; here a resting head lends its weight to the others.
def value_weighted_map(cross_attn, tokens, image_tokens):
    weights = cross_attn(tokens, image_tokens)[1]
    sent = cross_attn.W_O(cross_attn.W_V(image_tokens))  # (..., S, d_model)
    length = torch.linalg.vector_norm(sent, dim=-1)
    return weights.mean(dim=-3) * length.unsqueeze(-2)

# %% [wrong] rows_made_to_sum_to_one | The map is divided by the sum of its row at the end. What a patch adds to a token is a length, and it should be returned as it is.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    _, weights = cross_attn(tokens, image_tokens)
    heads, d = cross_attn.num_heads, image_tokens.shape[-1] // cross_attn.num_heads
    v = cross_attn.W_V(image_tokens).unflatten(-1, (heads, d)).transpose(-3, -2)
    w_o = cross_attn.W_O.weight.T.reshape(heads, d, -1)
    per_head = v @ w_o
    c = torch.einsum("...hts,...hsm->...tsm", weights, per_head)
    importance = c.norm(dim=-1)
    return importance / importance.sum(dim=-1, keepdim=True)

# %% [wrong] letters_for_one_batch_axis | The einsum names exactly one batch axis, b. Tokens (T, d_model) without a batch, or with two batch axes, fail; the leading axes should be left open with an ellipsis.
def value_weighted_map(cross_attn, tokens, image_tokens):
    _, weights = cross_attn(tokens, image_tokens)
    H = cross_attn.num_heads
    values = cross_attn.W_V(image_tokens).unflatten(-1, (H, -1))
    W_O = cross_attn.W_O.weight.unflatten(1, (H, -1))  # (d_model, H, d_head)
    c = torch.einsum("bhts,bshd,mhd->btsm", weights, values, W_O)
    return c.pow(2).sum(-1).sqrt()

# %% [right] weighted_values_through_the_whole_layer | No slices of W_O: for each pair of token and patch the weighted values of all heads are joined side by side and go through W_O as a whole, which sums over the heads.
def value_weighted_map(cross_attn: nn.Module, tokens: Tensor, image_tokens: Tensor) -> Tensor:
    maps = cross_attn(tokens, image_tokens)[1]
    per_pair = maps.movedim(-3, -1).unsqueeze(-1)  # (..., T, S, H, 1)
    values = cross_attn.W_V(image_tokens)
    values = values.reshape(*values.shape[:-1], cross_attn.num_heads, -1).unsqueeze(-4)  # (..., 1, S, H, d_head)
    return torch.linalg.vector_norm(cross_attn.W_O((per_pair * values).flatten(-2)), dim=-1)
