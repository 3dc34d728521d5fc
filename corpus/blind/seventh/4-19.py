# %% [wrong] biases_left_out | The projections use the weights of the layers alone (tokens @ W.T), as in lesson 2, where there were no biases; here each Linear has one, and layer.W_Q(tokens) would add it.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def heads(linear):
        return (tokens @ linear.weight.T).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    out, weights = masked_attention(heads(layer.W_Q), heads(layer.W_K), heads(layer.W_V))
    joined_heads = out.transpose(-3, -2).flatten(-2)
    return joined_heads @ layer.W_O.weight.T, weights

# %% [wrong] norm_of_the_block | The tokens go through layer.norm_1 first; norm, scale and residual belong to the block, so there they would be normalised twice.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    x = layer.norm_1(tokens)
    q, k, v = (
        W(x).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2) for W in (layer.W_Q, layer.W_K, layer.W_V)
    )
    seen, weights = masked_attention(q, k, v)
    return layer.W_O(seen.transpose(-3, -2).flatten(-2)), weights

# %% [wrong] keys_copied_for_values | The values are made with layer.W_K, a line that was copied and not changed; it should be layer.W_V. The weights are right, the output is not.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H = layer.num_heads
    query = layer.W_Q(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    key = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    value = layer.W_K(tokens).unflatten(-1, (H, -1)).transpose(-3, -2)
    output, weights = masked_attention(query, key, value)
    output = output.transpose(-3, -2).flatten(-2)
    return layer.W_O(output), weights

# %% [wrong] joined_without_a_swap | The heads are reshaped to the tokens' shape without swapping heads and tokens back, so W_O reads numbers of other tokens.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    mixed, weights = masked_attention(query, key, value)
    return layer.W_O(mixed.reshape(tokens.shape)), weights

# %% [wrong] root_of_the_whole_width | The scores are divided by the root of d_model; a head compares d_head numbers, so it should be the root of d_head, and all maps are too even.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    d_model = tokens.shape[-1]
    q, k, v = (
        W(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for W in (layer.W_Q, layer.W_K, layer.W_V)
    )
    weights = (q @ k.transpose(-2, -1) / d_model**0.5).softmax(-1)
    return layer.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights

# %% [wrong] softmax_over_the_heads | The softmax runs along dim=1, which holds the heads for tokens with one batch axis (and the queries without one); it should be dim=-1, the keys.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def split(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    Q, K, V = split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens))
    scores = Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=1)
    output = (weights @ V).transpose(-3, -2).flatten(-2)
    return layer.W_O(output), weights

# %% [right] heads_stay_in_their_place | splits and never swaps: the heads keep their axis behind the tokens, and two einsums find their way
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)) for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )  # (..., T, H, d_head)
    scores = torch.einsum("...qhd,...khd->...hqk", query, key) * query.shape[-1] ** -0.5
    weights = scores.softmax(dim=-1)
    mixed = torch.einsum("...hqk,...khd->...qhd", weights, value)
    return layer.W_O(mixed.flatten(-2)), weights
