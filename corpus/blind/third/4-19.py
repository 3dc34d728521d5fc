# %% [wrong] biases_dropped | Multiplies with the weight matrices alone; the biases of this layer's projections are left out.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def heads(linear):
        return (tokens @ linear.weight.T).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    output, weights = masked_attention(heads(layer.W_Q), heads(layer.W_K), heads(layer.W_V))
    return output.transpose(-3, -2).flatten(-2) @ layer.W_O.weight.T, weights

# %% [wrong] root_of_all_dimensions | Divides by √d_model in place of √d_head.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H, d_model = layer.num_heads, tokens.shape[-1]
    q, k, v = (one(tokens).unflatten(-1, (H, d_model // H)) for one in (layer.W_Q, layer.W_K, layer.W_V))
    weights = (torch.einsum("...thd,...shd->...hts", q, k) / d_model**0.5).softmax(-1)
    mixed = torch.einsum("...hts,...shd->...thd", weights, v).flatten(-2)
    return layer.W_O(mixed), weights

# %% [wrong] norm_inside | Normalises the tokens with norm_1 itself; norm, scale and residual belong to the block.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    x = layer.norm_1(tokens)
    split = lambda y: y.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
    heads, weights = masked_attention(split(layer.W_Q(x)), split(layer.W_K(x)), split(layer.W_V(x)))
    return layer.W_O(heads.transpose(-3, -2).flatten(-2)), weights

# %% [wrong] joined_without_swap | Flattens the heads without swapping heads and tokens back before.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    query, key, value = (
        linear(tokens).unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    output, weights = masked_attention(query, key, value)
    return layer.W_O(output.reshape(tokens.shape)), weights

# %% [wrong] keys_as_values | W_K makes the values as well; a copy-paste slip, W_V is never used.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H = layer.num_heads
    query = torch.stack(layer.W_Q(tokens).chunk(H, dim=-1), dim=-3)
    key = torch.stack(layer.W_K(tokens).chunk(H, dim=-1), dim=-3)
    value = torch.stack(layer.W_K(tokens).chunk(H, dim=-1), dim=-3)
    output, weights = masked_attention(query, key, value)
    return layer.W_O(torch.cat(output.unbind(-3), dim=-1)), weights

# %% [wrong] map_averaged | Returns the mean of the heads' weights, (..., T, T); those of every head are asked for.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    q, k, v = [f(tokens).unflatten(-1, (layer.num_heads, -1)).movedim(-2, -3) for f in (layer.W_Q, layer.W_K, layer.W_V)]
    weights = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    output = layer.W_O((weights @ v).movedim(-3, -2).flatten(-2))
    return output, weights.mean(-3)

# %% [right] one_head_after_the_other | Goes through the heads in a loop over slices of the projections, and adds up each head's columns of W_O.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    query, key, value = layer.W_Q(tokens), layer.W_K(tokens), layer.W_V(tokens)
    d_head = tokens.shape[-1] // layer.num_heads
    output, maps = layer.W_O.bias.expand_as(tokens), []
    for head in range(layer.num_heads):
        own = slice(head * d_head, (head + 1) * d_head)
        scores = torch.einsum("...td,...sd->...ts", query[..., own], key[..., own]) * d_head**-0.5
        maps.append(scores.softmax(dim=-1))
        output = output + F.linear(maps[-1] @ value[..., own], layer.W_O.weight[:, own])
    return output, torch.stack(maps, dim=-3)
