# %% [wrong] matrices_without_biases | The projections use the weight matrices alone; layer.W_Q, W_K and W_V have biases, which should be added. With the real weights the maps are others.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def heads(linear):
        return (tokens @ linear.weight.T).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    output, weights = masked_attention(heads(layer.W_Q), heads(layer.W_K), heads(layer.W_V))
    return layer.W_O(output.transpose(-3, -2).flatten(-2)), weights

# %% [wrong] norm_inside | The tokens go through layer.norm_1 first; the norm is the block's. In the block they are normalised twice.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    tokens = layer.norm_1(tokens)
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    heads, weights = masked_attention(query, key, value)
    return layer.W_O(heads.transpose(-3, -2).flatten(-2)), weights

# %% [wrong] reshaped_without_swapping_back | The heads (..., H, T, d_head) are reshaped to the tokens' shape at once; heads and tokens must be swapped back first. Each token gets numbers of other tokens.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    heads, weights = masked_attention(query, key, value)
    return layer.W_O(heads.reshape(tokens.shape)), weights

# %% [wrong] root_of_the_whole_width | The scores are divided by the root of d_model; each head compares d_head numbers, so it should be the root of d_head. All maps are too even.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    q, k, v = (
        torch.stack(linear(tokens).chunk(layer.num_heads, -1), -3) for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    weights = torch.softmax(q @ k.transpose(-2, -1) / tokens.shape[-1] ** 0.5, dim=-1)
    mixed = weights @ v
    return layer.W_O(torch.cat(mixed.unbind(-3), -1)), weights

# %% [wrong] later_tokens_hidden | A causal mask is laid over the tokens, as over words; nothing should be masked. [CLS], the first one, then sees itself alone.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    split = [
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    ]
    output, weights = masked_attention(*split, causal_mask(tokens.shape[-2], tokens.device))
    return layer.W_O(output.transpose(-3, -2).flatten(-2)), weights

# %% [wrong] the_heads_maps_averaged | The weights are averaged over the heads, (..., T, T), as PyTorch's layer does by default; they should be those of every head, (..., H, T, T).
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    output, weights = masked_attention(query, key, value)
    output = layer.W_O(output.transpose(-3, -2).flatten(-2))
    return output, weights.sum(-3) / layer.num_heads

# %% [right] one_projection_for_three | The three projections are put together into one F.linear, whose result is cut into queries, keys and values, and into heads, at once.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    parts = layer.W_Q, layer.W_K, layer.W_V
    weight, bias = torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])
    together = F.linear(tokens, weight, bias).unflatten(-1, (3, layer.num_heads, -1))  # (..., T, 3, H, d_head)
    query, key, value = together.movedim(-3, 0).transpose(-3, -2)
    scores = torch.einsum("...hqd,...hkd->...hqk", query, key) / query.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    heads = torch.einsum("...hqk,...hkd->...qhd", weights, value)
    return layer.W_O(heads.flatten(-2)), weights
