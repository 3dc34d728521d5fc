# %% [wrong] no_scaling | The scores are not divided by √d_head, so the softmax is too sharp; weights and output differ from the model's own.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    def heads(x):
        return x.unflatten(-1, (layer.num_heads, -1)).transpose(-3, -2)

    q, k, v = heads(layer.W_Q(tokens)), heads(layer.W_K(tokens)), heads(layer.W_V(tokens))
    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)
    return layer.W_O((weights @ v).transpose(-3, -2).flatten(-2)), weights


# %% [wrong] biases_dropped | Multiplies with the weight matrices alone, F.linear(x, W.weight), as in lesson 2 where the projections had no bias. These layers have biases; the query's and the value's change the result.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H = layer.num_heads
    query, key, value = (
        F.linear(tokens, linear.weight).unflatten(-1, (H, -1)).movedim(-2, -3)
        for linear in (layer.W_Q, layer.W_K, layer.W_V)
    )
    output, weights = masked_attention(query, key, value)
    return F.linear(output.movedim(-3, -2).flatten(-2), layer.W_O.weight), weights


# %% [wrong] norm_inside | Normalises the tokens with norm_1 before projecting. The text leaves the norm to the block, so that a block that calls this normalises twice.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    x = layer.norm_1(tokens)
    d = x.shape[-1] // layer.num_heads
    outs, maps = [], []
    for h in range(layer.num_heads):
        s = slice(h * d, (h + 1) * d)
        q, k, v = layer.W_Q(x)[..., s], layer.W_K(x)[..., s], layer.W_V(x)[..., s]
        w = F.softmax(q @ k.mT / d**0.5, dim=-1)
        maps.append(w)
        outs.append(w @ v)
    return layer.W_O(torch.cat(outs, -1)), torch.stack(maps, -3)


# %% [wrong] interleaved_heads | Splits with unflatten(-1, (-1, H)): the head becomes the inner axis, so head h gets the dimensions h, h + H, … instead of a contiguous slice. The join undoes the same mistake, so the shapes fit, but heads and weights are others than the model's.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    H = layer.num_heads
    q = layer.W_Q(tokens).unflatten(-1, (-1, H))
    k = layer.W_K(tokens).unflatten(-1, (-1, H))
    v = layer.W_V(tokens).unflatten(-1, (-1, H))
    scores = torch.einsum("...tdh,...sdh->...hts", q, k) / q.shape[-2] ** 0.5
    weights = scores.softmax(-1)
    seen = torch.einsum("...hts,...sdh->...tdh", weights, v)
    return layer.W_O(seen.flatten(-2)), weights


# %% [wrong] weights_averaged | Returns the mean of the weights over the heads, (..., T, T), as nn.MultiheadAttention does by default. Every head's own weights are asked for.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    output, weights = heads_output(layer, tokens)
    return output, weights.mean(dim=-3)


def heads_output(layer, tokens):
    split = lambda t: torch.stack(t.split(t.shape[-1] // layer.num_heads, dim=-1), dim=-3)
    out, w = masked_attention(split(layer.W_Q(tokens)), split(layer.W_K(tokens)), split(layer.W_V(tokens)))
    return layer.W_O(torch.cat(torch.unbind(out, dim=-3), dim=-1)), w


# %% [right] one_joint_projection | Stacks the three matrices and biases to one projection (as PyTorch's in_proj) and writes the rest as einsum over named axes.
def vit_attention(layer: nn.Module, tokens: Tensor) -> tuple[Tensor, Tensor]:
    parts = (layer.W_Q, layer.W_K, layer.W_V)
    joint = F.linear(tokens, torch.cat([p.weight for p in parts]), torch.cat([p.bias for p in parts]))
    q, k, v = joint.unflatten(-1, (3, layer.num_heads, -1)).unbind(-3)  # each (..., T, H, d_head)
    scores = torch.einsum("...thd,...shd->...hts", q * q.shape[-1] ** -0.5, k)
    weights = torch.softmax(scores, dim=-1)
    seen = torch.einsum("...hts,...shd->...thd", weights, v).flatten(-2)
    return layer.W_O(seen), weights
