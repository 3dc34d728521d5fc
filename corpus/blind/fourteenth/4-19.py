# %% [wrong] matrices_without_their_biases | Queries, keys and values are made with the matrices alone, tokens @ W.T, so the biases of the three projections are left out.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    query, key, value = (
        (tokens @ linear.weight.T).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    joined = (weights @ value).transpose(-3, -2).flatten(-2)
    return layer.W_O(joined), weights
