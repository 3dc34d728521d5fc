# %% [wrong] root_of_d_model | The scores are divided by √d_model instead of √d_head, so all maps are too even
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    q, k, v = (lin(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
               for lin in (layer.W_Q, layer.W_K, layer.W_V))
    w = (q @ k.mT / tokens.shape[-1] ** 0.5).softmax(-1)
    return layer.W_O((w @ v).transpose(-3, -2).flatten(-2)), w

# %% [wrong] biases_lost | Queries, keys and values are made with the weights alone (tokens @ weight.T), so their three biases are missing
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def heads(linear):
        return (tokens @ linear.weight.T).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    out, weights = masked_attention(heads(layer.W_Q), heads(layer.W_K), heads(layer.W_V))
    return layer.W_O(out.transpose(-3, -2).flatten(-2)), weights

# %% [wrong] joined_without_swap | The heads are reshaped to (..., T, d_model) without swapping heads and tokens back, so numbers of different tokens are mixed
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    q, k, v = (lin(tokens).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)
               for lin in (layer.W_Q, layer.W_K, layer.W_V))
    mixed, weights = masked_attention(q, k, v)
    return layer.W_O(mixed.reshape(tokens.shape)), weights

# %% [wrong] values_are_keys | The values are made with W_K instead of W_V (copied line): the weights are right and the output is not
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    seen, weights = masked_attention(query, key, value)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), weights

# %% [wrong] norm_inside | norm_1 is applied here already, although norm, scale and residual are the block's; within the block the tokens are normalised twice
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    x = layer.norm_1(tokens)
    q, k, v = (f(x).unflatten(-1, (layer.num_heads, -1)).transpose(-2, -3) for f in (layer.W_Q, layer.W_K, layer.W_V))
    o, w = masked_attention(q, k, v)
    return layer.W_O(o.transpose(-2, -3).flatten(-2)), w

# %% [wrong] softmax_over_queries | The softmax runs along dim=-2, over the tokens that ask, so the columns of the weights sum to 1 instead of the rows
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    q, k, v = (lin(tokens).unflatten(-1, (layer.num_heads, -1)) for lin in (layer.W_Q, layer.W_K, layer.W_V))
    scores = torch.einsum("...qhd,...khd->...hqk", q, k) * q.shape[-1] ** -0.5
    w = scores.softmax(dim=-2)
    return layer.W_O(torch.einsum("...hqk,...khd->...qhd", w, v).flatten(-2)), w

# %% [right] einsum | heads stay behind the tokens, einsums do the rest
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)) for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    scores = torch.einsum("...qhd,...khd->...hqk", query, key) / query.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    mixed = torch.einsum("...hqk,...khd->...qhd", weights, value)
    return layer.W_O(mixed.flatten(-2)), weights
