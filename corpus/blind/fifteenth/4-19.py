# %% [wrong] heads_take_every_hth_number | The width is split as (d_head, H), so a head gets every H-th number. Each head gets d_head numbers beside each other: unflatten(-1, (H, -1)).
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H = layer.num_heads
    query, key, value = (
        project(tokens).unflatten(-1, (-1, H)).movedim(-1, -3) for project in (layer.W_Q, layer.W_K, layer.W_V)
    )
    output, weights = masked_attention(query, key, value)
    return layer.W_O(output.movedim(-3, -1).flatten(-2)), weights


# %% [wrong] divided_by_root_of_d_model | The scores are divided by the root of d_model. Each head compares vectors of d_model / H numbers, so the divisor is the root of that.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    d_model = tokens.shape[-1]
    d_head = d_model // layer.num_heads
    shape = (*tokens.shape[:-1], layer.num_heads, d_head)
    query = layer.W_Q(tokens).reshape(shape).transpose(-3, -2)
    key = layer.W_K(tokens).reshape(shape).transpose(-3, -2)
    value = layer.W_V(tokens).reshape(shape).transpose(-3, -2)
    scores = torch.matmul(query, key.transpose(-1, -2)) / d_model**0.5
    weights = torch.softmax(scores, dim=-1)
    seen = torch.matmul(weights, value)
    seen = seen.transpose(-3, -2).reshape(tokens.shape)
    return layer.W_O(seen), weights
